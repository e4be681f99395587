// GitHub's REST API through the ports Forge and CommentPort: github.com and GitHub Enterprise Server. Every verb looks
// first, then acts; if the response to a write was lost (a timeout, a 5xx) it looks again before it writes again.
//
//   http::CurlClient http;  GithubOptions options{.api = "https://api.github.com", .cache = state / "etags"};
//   UseTokens(tokens, options);                       // app_auth.h
//   WW_ASSIGN(auto github, GithubClient::Create(options, *http, clock));
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "forge/forge.h"
#include "forge/rate_limits.h"
#include "http/client.h"

namespace warpwright::forge {

// One exchange, for counting.
struct GithubCall {
  std::string method;
  int status = 0;                      // 0: no response
  bool limited = false;                // refused by a rate limit
  bool from_cache = false;             // 304
  int64_t remaining = -1, limit = -1;  // of the hourly rate limit; -1: not reported
};

struct GithubOptions {
  std::string api = "https://api.github.com";  // Enterprise: https://HOST/api/v3
  std::filesystem::path cache = {};            // folder for responses and their ETags; empty: none are stored
  uint64_t cache_bytes = 64u << 20;
  std::function<Result<std::string>(const RepositoryName&)> token = {};  // called for every request
  // The server did not accept that token (401). Afterwards `token` is called once more.
  std::function<void(const RepositoryName&, const std::string& token)> token_rejected = {};
  // The account that we write as ("warpwright[bot]"), so that only our own issue and comments are edited. Empty: GET
  // /user is used.
  std::function<Result<std::string>()> login = {};
  std::string label = "warpwright";  // of the dashboard's issue
  RetryRules retry = {};
  std::function<void(std::chrono::milliseconds)> sleep =
      {};                                             // empty: this thread sleeps. May return early if `stopping`
  std::function<bool()> stopping = {};                // true: waits end immediately with an Error
  std::function<void(const std::string&)> warn = {};  // what an operator should know; each text once
  std::function<void(const GithubCall&)> observe = {};
};

// Thread-safe. Beyond the ports' promises:
// - PutPullRequest finds the open pull request of the head in this repository (not that of a fork's branch of the same
//   name). Only differences are sent (line endings are ignored). A draft stays a draft: a user marks it ready. Missing
//   labels are added, unless a user removed them; reviewers are requested only once, ever. `expected_body`: forge.h.
// - PutCheck needs a GitHub App (in an Action: its own token). With any other token it writes a commit status instead,
//   and reports so once through `warn`; neutral and skipped are then "success". Annotations that exist already are
//   not sent again.
// - PutDashboard finds our issue by marker, open or closed; a closed one is updated, not reopened and not replaced.
// - PutComment with an empty marker: the body itself is the marker.
// - PermissionOf: a custom role counts as the basic permission that it includes; a user who is not a collaborator has
//   kNone (on a public repository: kRead).
class GithubClient final : public Forge, public CommentPort {
 public:
  // `http` and `clock` outlive the client. kConfig: `api` is not an http(s) URL, or there is no token function.
  static Result<std::unique_ptr<GithubClient>> Create(GithubOptions options, http::Client& http,
                                                      const base::Clock& clock);
  ~GithubClient() override;

  Result<std::optional<PullRequestView>> FindPullRequest(const RepositoryName& repository,
                                                         const std::string& head) override;
  Result<PublishedPullRequest> PutPullRequest(const RepositoryName& repository,
                                              const PullRequestRequest& request) override;
  Result<int64_t> PutCheck(const RepositoryName& repository, const CheckRequest& request) override;
  Result<int64_t> PutDashboard(const RepositoryName& repository, const DashboardRequest& request) override;

  Result<Permission> PermissionOf(const RepositoryName& repository, const std::string& login) override;
  Result<PullRequestView> ReadPullRequest(const RepositoryName& repository, int64_t number) override;
  Result<int64_t> PutComment(const RepositoryName& repository, const CommentRequest& request) override;
  Status React(const RepositoryName& repository, int64_t comment, const std::string& reaction) override;

  // The account that we write as, as the author of commits: with its address that receives no mail, by which GitHub
  // shows commits as the account's. kUnsupported: the token belongs to no account.
  struct Author {
    std::string name, email;
  };
  Result<Author> OwnAuthor(const RepositoryName& repository);

 private:
  struct State;
  explicit GithubClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::forge
