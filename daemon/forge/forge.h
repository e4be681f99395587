// What warpwright writes on a forge (github.com, GitHub Enterprise), as values, and the two ports through which it does
// so. Every verb is idempotent: it looks first, changes in place, and may be repeated after a crash without creating a
// second pull request, check, issue or comment.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::forge {

// "owner/name". Parsed where it enters (a URL, a webhook), so that no other text gets into a path of the API.
struct RepositoryName {
  std::string owner, name;
  static Result<RepositoryName> Parse(std::string_view text);  // "owner/name"
  static Result<RepositoryName> FromUrl(
      std::string_view url);  // https://host/owner/name(.git), git@host:owner/name.git, ssh://
  std::string Full() const { return owner + "/" + name; }
  bool operator==(const RepositoryName&) const = default;
};

enum class PullRequestState { kOpen, kMerged, kClosed };
struct PullRequestView {
  int64_t number = 0;
  std::string url, title, body;
  PullRequestState state = PullRequestState::kOpen;
  bool draft = false;
  std::string head, head_sha, base;  // branch names and the head's commit
  std::string author;                // login
};
struct PullRequestRequest {
  std::string head, base;   // branches of the same repository
  std::string title, body;  // body at most 60,000 characters (report/pull_request.h)
  bool draft = false;
  std::vector<std::string> labels, reviewers;  // reviewers: logins, or "team:slug"; requested once, when it is opened
  // The body that the caller had read when it made `body`. If a user has changed it since (a tick in a task list), the
  // user's body stays.
  std::optional<std::string> expected_body = {};
};
enum class Operation { kCreated, kUpdated, kUnchanged };
std::string_view Name(Operation operation);
struct PublishedPullRequest {
  PullRequestView view;
  Operation operation = Operation::kUnchanged;
  bool body_left = false;  // it was no longer `expected_body`: read it (view.body) and call again
};

struct Annotation {
  std::string path;
  int start_line = 1, end_line = 1;
  std::string title, message;
};
enum class Conclusion { kSuccess, kNeutral, kFailure };
std::string_view Name(Conclusion conclusion);
// A completed check.
struct CheckRequest {
  std::string name;         // "warpwright / softmax"
  std::string sha;          // the commit it is about
  std::string external_id;  // our job: (name, sha, external_id) identifies the check
  Conclusion conclusion = Conclusion::kNeutral;
  std::string title, summary, text;  // Markdown; summary and text at most 65,535 characters each
  std::string details_url;
  std::vector<Annotation> annotations;  // any number; sent 50 at a time
};
// The one issue that shows the state of a repository. Found by `marker`, which is part of its body.
struct DashboardRequest {
  std::string title, body, marker;
};
struct CommentRequest {
  int64_t issue = 0;  // or pull request
  std::string body;
  std::string marker;  // part of the body: our comment that has it is edited, and no second one is written
};
enum class Permission { kNone, kRead, kTriage, kWrite, kMaintain, kAdmin };
std::string_view Name(Permission permission);

// Writing results. All errors are kEnvironment (credentials, permissions, with remedy), kIo (network, after retries),
// kTimeout, kUnsupported (a 4xx that means that the request makes no sense; repeating it is useless) or kCorrupt (a
// response that does not decode).
class Forge {
 public:
  virtual ~Forge() = default;
  // The newest pull request of that head branch, in any state.
  virtual Result<std::optional<PullRequestView>> FindPullRequest(const RepositoryName& repository,
                                                                 const std::string& head) = 0;
  // Opens it, or updates the open one of this head. A closed one is never reopened: a new one is opened, and the caller
  // has decided by FindPullRequest whether that is wanted.
  virtual Result<PublishedPullRequest> PutPullRequest(const RepositoryName& repository,
                                                      const PullRequestRequest& request) = 0;
  virtual Result<int64_t> PutCheck(const RepositoryName& repository, const CheckRequest& request) = 0;
  // Creates or updates it; returns its number.
  virtual Result<int64_t> PutDashboard(const RepositoryName& repository, const DashboardRequest& request) = 0;
};

// Conversation with users.
class CommentPort {
 public:
  virtual ~CommentPort() = default;
  virtual Result<Permission> PermissionOf(const RepositoryName& repository, const std::string& login) = 0;
  virtual Result<PullRequestView> ReadPullRequest(const RepositoryName& repository, int64_t number) = 0;
  virtual Result<int64_t> PutComment(const RepositoryName& repository, const CommentRequest& request) = 0;
  virtual Status React(const RepositoryName& repository, int64_t comment,
                       const std::string& reaction) = 0;  // "eyes", "rocket", "-1"
};

}  // namespace warpwright::forge
