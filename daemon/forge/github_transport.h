// Requests to GitHub, with everything that all of them share: headers, the token and its renewal, rate limits, retries,
// cached responses, pagination. What a verb does with a response is not known here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "forge/etag_cache.h"
#include "forge/github_client.h"
#include "forge/rate_limits.h"
#include "http/client.h"

namespace warpwright::forge {

// One segment of a path, or the value of a query parameter, so that foreign text cannot leave its position. Everything
// but letters, digits and -._~ is encoded.
std::string PercentEncoded(std::string_view text);

struct GithubResponse {
  int status = 0;
  std::string body;
  std::string next;        // URL of the next page; empty: the last
  std::string request_id;  // GitHub's, for messages
  bool from_cache = false;
};
// The outcome of a write.
struct GithubWrite {
  bool lost = false;  // a 5xx or no response: check whether it was done, then write again
  GithubResponse answer;
};

// How many retries one verb has left.
struct RetryBudget {
  int attempts_left = 0;
  int failures = 0;
  std::chrono::steady_clock::time_point until;
};

class GithubTransport {
 public:
  // Uses all of `options` but login, label and warn. kConfig: they make no sense.
  static Result<std::unique_ptr<GithubTransport>> Create(const GithubOptions& options, http::Client& http,
                                                         const base::Clock& clock);

  RetryBudget Begin() const;
  // `path` begins with a slash and is encoded, or is a whole URL below options.api. Failures are retried within
  // `patience`; everything else is a response, 4xx too.
  Result<GithubResponse> Get(const RepositoryName& repository, const std::string& path, RetryBudget& patience);
  // The items of all pages, at most `max_pages`; `visit` returns whether to continue. Anything but 200 is an Error, and
  // `refused_with` its status.
  Status GetPages(const RepositoryName& repository, const std::string& path, int max_pages, RetryBudget& patience,
                  const std::function<Result<bool>(const std::string& body)>& visit, int* refused_with = nullptr);
  // A write that was refused by a limit is retried here; if the outcome of a write is unknown, the wait is over when
  // this returns.
  Result<GithubWrite> Write(const RepositoryName& repository, const std::string& method, const std::string& path,
                            const nlohmann::json& body, RetryBudget& patience);
  // Takes one attempt and waits before the next; returns `cause` if none is left.
  Status WaitAfterFailure(RetryBudget& patience, const Error& cause);

  // The Error for a response with an unexpected status. `what`: "open the pull request".
  Error Refusal(const GithubResponse& answer, std::string_view what) const;

 private:
  GithubTransport(GithubOptions options, http::Client& http, const base::Clock& clock);
  // nullopt: it failed, and the wait before the next attempt is over.
  Result<std::optional<http::ClientResponse>> Exchange(const RepositoryName& repository, http::ClientRequest request,
                                                       RetryBudget& patience);
  Result<http::ClientResponse> SendAuthorized(const RepositoryName& repository, http::ClientRequest& request);
  Status Wait(std::chrono::milliseconds time, const RetryBudget& patience, const Error& cause);
  http::ClientRequest MakeRequest(const std::string& method, const std::string& url) const;
  GithubResponse Take(http::ClientResponse answer) const;
  void Report(const http::ClientRequest& request, const http::ClientResponse* answer, bool limited) const;

  GithubOptions options_;
  http::Client& http_;
  const base::Clock& clock_;
  std::string host_;
  RateLimits limits_;
  std::unique_ptr<EtagCache> cache_;
};

}  // namespace warpwright::forge
