// GitHub's REST interface behind the ports Forge and Conversation: github.com and GitHub Enterprise Server. Every verb
// looks first, then acts; where an act's answer was lost (a timeout, a 5xx) it looks again before it acts again.
//
//   CurlHttp http;  GithubOptions options{.api = "https://api.github.com", .cache = state / "etags"};
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
#include "forge/http.h"
#include "forge/rate_limits.h"

namespace warpwright::forge {

// One exchange, for counting.
struct GithubCall {
  std::string method;
  int status = 0;                      // 0: no answer
  bool limited = false;                // refused by a rate limit
  bool from_cache = false;             // 304
  int64_t remaining = -1, limit = -1;  // of the hour's requests; -1: not said
};

struct GithubOptions {
  std::string api = "https://api.github.com";  // Enterprise: https://HOST/api/v3
  std::filesystem::path cache = {};            // folder for answers and their ETags; empty: none are kept
  uint64_t cache_bytes = 64u << 20;
  std::function<Result<std::string>(const RepositoryName&)> token = {};  // asked for every request
  // The server did not accept that token (401). Afterwards `token` is asked once more.
  std::function<void(const RepositoryName&, const std::string& token)> token_rejected = {};
  // The account that we write as ("warpwright[bot]"), so that only our own issue and comments are edited. Empty: GET
  // /user is asked.
  std::function<Result<std::string>()> login = {};
  std::string label = "warpwright";  // of the dashboard's issue
  RetryRules retry = {};
  std::function<void(std::chrono::milliseconds)> sleep =
      {};                                               // empty: this thread sleeps. May return early where `stopping`
  std::function<bool()> stopping = {};                  // true: waits end at once with an Error
  std::function<void(const std::string&)> notice = {};  // what an operator should know; each text once
  std::function<void(const GithubCall&)> observe = {};
};

// Thread-safe. Beyond the ports' promises:
//  - PutPullRequest finds the open request of the head in this repository (not a fork's of that name). Only what
//  differs is sent (line ends do
//    not count). A draft stays what it is: people say when it is ready. Labels are added where they are missing, unless
//    somebody took them off; reviewers are asked for once, ever. `expected_body`: forge.h.
//  - PutCheck needs a GitHub App (in an Action: its own token). With any other token it writes a commit status instead,
//  and says so once
//    through `notice`; neutral and skipped are then "success". Annotations that are already there are not sent again.
//  - PutDashboard finds our issue by marker, open or closed; a closed one is kept up to date, not reopened and not
//  replaced.
//  - PutComment with an empty marker: the body itself is the marker.
//  - PermissionOf: a custom role counts as the basic permission it includes; who is not a collaborator has kNone
//  (public: kRead).
class GithubClient final : public Forge, public CommentPort {
 public:
  // `http` and `clock` outlive the client. kConfig: `api` is no http(s) URL, or there is no token function.
  static Result<std::unique_ptr<GithubClient>> Create(GithubOptions options, Http& http, const base::Clock& clock);
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

 private:
  struct State;
  explicit GithubClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::forge
