// What warpwright says on a forge (github.com, GitHub Enterprise), as values, and the two ports behind which it is
// said. Every verb is idempotent: it looks first, changes in place, and may be repeated after a crash without a second
// pull request, check, issue or comment.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpwright::forge {

// "owner/name". Parsed where it enters (a URL, a webhook), so that no other text gets into a path of the interface.
struct RepositoryName {
  std::string owner, name;
  static Result<RepositoryName> Parse(std::string_view text);  // "owner/name"
  static Result<RepositoryName> FromUrl(
      std::string_view url);  // https://host/owner/name(.git), git@host:owner/name.git, ssh://
  std::string Full() const { return owner + "/" + name; }
  bool operator==(const RepositoryName&) const = default;
};

struct PullRequestView {
  int64_t number = 0;
  std::string url, title, body;
  std::string state;  // "open", "closed"
  bool merged = false, draft = false;
  std::string head, head_sha, base;  // branch names and the head's commit
  std::string author;                // login
};
struct PullRequestRequest {
  std::string head, base;   // branches of the same repository
  std::string title, body;  // body at most 60,000 characters (report/pull_request.h)
  bool draft = false;
  std::vector<std::string> labels, reviewers;  // reviewers: logins, or "team:slug"; asked for once, when it is opened
  // The body that the caller read before it made `body`. Where people changed it since (a tick in a task list), theirs
  // stays.
  std::optional<std::string> expected_body = {};
};
enum class Operation { kCreated, kUpdated, kUnchanged };
std::string_view Name(Operation operation);
struct PublishedPullRequest {
  PullRequestView view;
  Operation operation = Operation::kUnchanged;
  bool body_left = false;  // it was no longer `expected_body`: read it (view.body), and put again
};

struct Annotation {
  std::string path;
  int start_line = 1, end_line = 1;
  std::string level = "notice";  // notice, warning, failure
  std::string title, message;
};
struct CheckRequest {
  std::string name;                  // "warpwright / softmax"
  std::string sha;                   // the commit it is about
  std::string external_id;           // our job: by (name, sha, external_id) it is found again
  std::string status = "completed";  // queued, in_progress, completed
  std::string conclusion;            // success, neutral, failure, skipped, cancelled; only with completed
  std::string title, summary, text;  // Markdown; summary and text at most 65,535 characters each
  std::string details_url;
  std::vector<Annotation> annotations;  // any number; sent 50 at a time
};
// The one issue that shows the state of a repository. Found by `marker`, which stands in its body.
struct DashboardRequest {
  std::string title, body, marker;
};
struct CommentRequest {
  int64_t issue = 0;  // or pull request
  std::string body;
  std::string marker;  // stands in the body: a comment of ours that has it is edited instead of a second one written
};
enum class Permission { kNone, kRead, kTriage, kWrite, kMaintain, kAdmin };
std::string_view Name(Permission permission);

// Writing results. All errors are kEnvironment (credentials, permissions, with remedy), kIo (network, after retries),
// kTimeout, kUnsupported (a 4xx that says the request makes no sense; repeating it is useless) or kCorrupt (an answer
// that does not decode).
class Forge {
 public:
  virtual ~Forge() = default;
  // The newest pull request of that head branch, of whatever state.
  virtual Result<std::optional<PullRequestView>> FindPullRequest(const RepositoryName& repository,
                                                                 const std::string& head) = 0;
  // Opens it, or brings the open one of this head up to date; a closed one is never reopened: then a new one is opened,
  // and whether that is wanted the caller has decided by FindPullRequest.
  virtual Result<PublishedPullRequest> PutPullRequest(const RepositoryName& repository,
                                                      const PullRequestRequest& request) = 0;
  virtual Result<int64_t> PutCheck(const RepositoryName& repository, const CheckRequest& request) = 0;
  // Creates or updates it; the answer is its number.
  virtual Result<int64_t> PutDashboard(const RepositoryName& repository, const DashboardRequest& request) = 0;
};

// Talking with people.
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
