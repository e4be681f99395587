// GitHub's state, as far as the verbs need it, used through ScriptedHttp::reply: what was written is found again.
// Faults can be injected before a request is served or after, when only the response is lost.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/unit/forge/scripted_http.h"

namespace warpwright {

class ModelGithub {
 public:
  using json = nlohmann::json;
  enum class Fault { kNone, k502Before, k502After, kTimeoutAfter, kRateLimit };

  Result<http::ClientResponse> Serve(const http::ClientRequest& request);

  json pulls = json::array(), issues = json::array(), comments = json::array(), checks = json::array(),
       statuses = json::array();
  std::map<int64_t, json> events;
  std::function<Fault(size_t index)> fault;  // for request number `index`, from 0
  size_t served = 0;
  bool checks_allowed = true;
  std::string me = "warpwright[bot]";

 private:
  http::ClientResponse Route(const http::ClientRequest& request);
  http::ClientResponse PullRequests(const std::string& method, const std::string& rest, const std::string& query,
                                    const json& body);
  http::ClientResponse Issues(const std::string& method, const std::string& rest, const json& body);
  http::ClientResponse Checks(const std::string& method, const std::string& rest, const json& body);
  json User() const { return {{"login", me}, {"type", "Bot"}}; }
  json* Find(json& list, const char* key, int64_t value);
  int64_t next_ = 1;
};

}  // namespace warpwright
