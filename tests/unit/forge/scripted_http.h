// An Http that records what is sent and responds from a script, and a clock that moves only when it is slept on.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "forge/github_client.h"
#include "http/client.h"

namespace warpwright {

class FakeTime final : public base::Clock {
 public:
  std::chrono::system_clock::time_point Now() const override {
    return std::chrono::system_clock::from_time_t(1'800'000'000) + passed;
  }
  std::chrono::steady_clock::time_point Steady() const override {
    return std::chrono::steady_clock::time_point() + std::chrono::hours(1) + passed;
  }
  std::chrono::milliseconds passed{0};
};

inline http::ClientResponse Answer(int status, std::string body = "{}",
                                   std::map<std::string, std::string> headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

class ScriptedHttp final : public http::Client {
 public:
  using Reply = std::function<Result<http::ClientResponse>(const http::ClientRequest&)>;
  // For requests that begin with `start` ("GET /repos/o/r/pulls?"): the responses in turn, the last one repeated
  // forever.
  void On(std::string start, std::vector<Result<http::ClientResponse>> answers) {
    script_.push_back({std::move(start), std::move(answers), 0});
  }

  Result<http::ClientResponse> Send(const http::ClientRequest& request) override {
    const size_t path = request.url.find('/', request.url.find("://") + 3);
    log.push_back(request.method + " " + request.url.substr(path));
    requests.push_back(request);
    if (reply) return reply(request);
    Rule* best = nullptr;  // the longest that matches
    for (Rule& rule : script_)
      if (log.back().starts_with(rule.start) && (best == nullptr || rule.start.size() > best->start.size()))
        best = &rule;
    if (best == nullptr) return Answer(404, R"({"message":"not in the script"})");
    const size_t at = std::min(best->next++, best->answers.size() - 1);
    return best->answers[at];
  }
  // How many requests began with `start`.
  size_t Count(std::string_view start) const {
    size_t count = 0;
    for (const std::string& line : log) count += line.starts_with(start);
    return count;
  }
  // The body of the last request that began with `start`.
  std::string Body(std::string_view start) const {
    for (size_t i = log.size(); i-- > 0;)
      if (log[i].starts_with(start)) return requests[i].body;
    return "none";
  }

  Reply reply;  // instead of the script
  std::vector<http::ClientRequest> requests;
  std::vector<std::string> log;  // "GET /path?query"

 private:
  struct Rule {
    std::string start;
    std::vector<Result<http::ClientResponse>> answers;
    size_t next;
  };
  std::vector<Rule> script_;
};

// A client on a ScriptedHttp, whose waits are recorded and take no time.
struct ClientKit {
  FakeTime time;
  ScriptedHttp http;
  forge::GithubOptions options;
  std::vector<std::chrono::milliseconds> waits;
  std::vector<std::string> notices;
  std::unique_ptr<forge::GithubClient> client;

  ClientKit() {
    options.token = [](const forge::RepositoryName&) -> Result<std::string> { return "token-of-a-test"; };
    options.login = []() -> Result<std::string> { return "warpwright[bot]"; };
    options.sleep = [this](std::chrono::milliseconds wait) {
      waits.push_back(wait);
      time.passed += wait;
    };
    options.warn = [this](const std::string& text) { notices.push_back(text); };
  }
  forge::GithubClient& Client() {
    if (!client) client = std::move(*forge::GithubClient::Create(options, http, time));
    return *client;
  }
};

inline const forge::RepositoryName kRepository{"acme", "kernels"};

}  // namespace warpwright
