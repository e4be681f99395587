// GitHub's responses as values. Each decoder takes the bytes of one response, bounded (json_text.h), and returns
// kCorrupt if an indispensable field is missing. Any other missing field is left empty, since Enterprise servers of
// various versions respond too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "forge/forge.h"

namespace warpwright::forge {

inline constexpr size_t kMaxGithubAnswerBytes = 16u << 20;

struct GithubAuthor {
  std::string login, type;  // type: "User", "Bot", "Organization"
};
struct GithubPullRequest {
  PullRequestView view;
  std::string head_repository;  // "owner/name"; empty: it was deleted
  std::vector<std::string> labels;
  std::vector<std::string> reviewers;  // requested and still pending: logins, "team:slug"
};
struct GithubIssue {
  int64_t number = 0;
  std::string title, body;
  bool open = false;
  GithubAuthor author;
  bool is_pull_request = false;
};
struct GithubComment {
  int64_t id = 0;
  std::string body;
  GithubAuthor author;
};
struct GithubIssueEvent {
  std::string event;    // "labeled", "unlabeled", "review_requested", ...
  std::string subject;  // the label, the login, "team:slug"
};
struct GithubCheckRun {
  int64_t id = 0;
  std::string name, external_id, status, conclusion, details_url, title, summary, text;
  int64_t annotations = 0;
};
struct GithubStatus {
  int64_t id = 0;
  std::string context, state, description, target_url;
};
struct GithubInstallationToken {
  std::string token, expires_at;
};

Result<GithubPullRequest> DecodePullRequest(std::string_view body);
Result<std::vector<GithubPullRequest>> DecodePullRequests(std::string_view body);
Result<GithubIssue> DecodeIssue(std::string_view body);
Result<std::vector<GithubIssue>> DecodeIssues(std::string_view body);
Result<GithubComment> DecodeComment(std::string_view body);
Result<std::vector<GithubComment>> DecodeComments(std::string_view body);
Result<std::vector<GithubIssueEvent>> DecodeIssueEvents(std::string_view body);
Result<GithubCheckRun> DecodeCheckRun(std::string_view body);
Result<std::vector<GithubCheckRun>> DecodeCheckRuns(std::string_view body);
Result<GithubStatus> DecodeStatus(std::string_view body);
Result<std::vector<GithubStatus>> DecodeStatuses(std::string_view body);
Result<Permission> DecodePermission(std::string_view body);
Result<std::string> DecodeLogin(std::string_view body);     // GET /user
Result<std::string> DecodeAppSlug(std::string_view body);   // GET /app
Result<int64_t> DecodeInstallation(std::string_view body);  // its id
Result<GithubInstallationToken> DecodeInstallationToken(std::string_view body);
// Whether a 422 means that the pull request already exists.
bool IsAlreadyExistsError(std::string_view body);

}  // namespace warpwright::forge
