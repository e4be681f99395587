// What the sources of GithubClient share; no other file includes it.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "forge/github_client.h"
#include "forge/github_responses.h"
#include "forge/github_transport.h"

namespace warpwright::forge {

struct GithubClient::State {
  GithubOptions options;
  std::unique_ptr<GithubTransport> transport;
  std::mutex mutex;                      // for what follows
  std::optional<std::string> login;      // empty text: the token does not identify an account
  std::set<std::string> said;            // through options.warn
  std::set<std::string> without_checks;  // "owner/name" whose token may not write check runs
  std::set<std::string> refused;         // labels and reviewers that were refused, "owner/name#7 label x"

  void Say(const std::string& text);
  // Our own login; empty if the token (an Action's) does not identify one.
  Result<std::string> Login(const RepositoryName& repository, RetryBudget& patience);
  // Whether `author` is us. Without a login: any bot, since only Apps' tokens have none.
  static bool IsOurs(const GithubAuthor& author, const std::string& login);

  // The pull requests of the branch `head` in this repository, newest first.
  Result<std::vector<GithubPullRequest>> PullRequestsOf(const RepositoryName& repository, const std::string& head,
                                                        RetryBudget& patience);
  Result<GithubPullRequest> PullRequest(const RepositoryName& repository, int64_t number, RetryBudget& patience);
  // Labels and reviewers. Their refusal is reported, not an Error: the pull request exists.
  Status Dress(const RepositoryName& repository, const GithubPullRequest& found, const PullRequestRequest& wanted,
               bool just_opened, RetryBudget& patience);
  // The past events that `Dress` needs; nullopt: they cannot be read.
  Result<std::optional<std::vector<GithubIssueEvent>>> History(const RepositoryName& repository, int64_t number,
                                                               RetryBudget& patience);
  Status AddLabels(const RepositoryName& repository, int64_t number, const std::vector<std::string>& labels,
                   RetryBudget& patience);
  Status AskReviewers(const RepositoryName& repository, int64_t number, const std::vector<std::string>& reviewers,
                      RetryBudget& patience);

  // The first is nullopt: there is none. `forbidden`: this token may not read check runs.
  Result<std::optional<GithubCheckRun>> FindCheck(const RepositoryName& repository, const CheckRequest& request,
                                                  bool& forbidden, RetryBudget& patience);
  // nullopt: this token may not write check runs.
  Result<std::optional<int64_t>> PutCheckRun(const RepositoryName& repository, const CheckRequest& request,
                                             RetryBudget& patience);
  Result<int64_t> PutStatus(const RepositoryName& repository, const CheckRequest& request, RetryBudget& patience);

  Result<std::optional<GithubIssue>> FindDashboard(const RepositoryName& repository, const std::string& marker,
                                                   RetryBudget& patience);
  Result<std::optional<GithubComment>> FindComment(const RepositoryName& repository, int64_t issue,
                                                   const std::string& marker, RetryBudget& patience);
};

inline constexpr int kMaxPages = 30;                  // of 100 items
inline constexpr size_t kMaxBodyCodePoints = 65'536;  // of pull requests, issues and comments

// "/repos/owner/name" + path.
std::string RepositoryPath(const RepositoryName& repository, std::string_view path);
// Texts that differ only in line endings, or in white space at the end, are the same: GitHub changes those.
bool SameText(std::string_view a, std::string_view b);
bool SameIgnoringCase(std::string_view a, std::string_view b);
Status CheckBody(std::string_view body);

}  // namespace warpwright::forge
