// GitHub's memory, as far as the verbs need it, behind ScriptedHttp::reply: what was written is there when it is looked
// for. Faults can be put before a request is served and after, when only the answer is lost.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/unit/forge/scripted_http.h"

namespace warpwright {

class ModelGithub {
 public:
  using json = nlohmann::json;
  enum class Fault { kNone, k502Before, k502After, kTimeoutAfter, kRateLimit };

  Result<forge::HttpResponse> Serve(const forge::HttpRequest& request);

  json pulls = json::array(), issues = json::array(), comments = json::array(), checks = json::array(),
       statuses = json::array();
  std::map<int64_t, json> events;
  std::function<Fault(size_t index)> fault;  // of the request number `index`, from 0
  size_t served = 0;
  bool checks_allowed = true;
  std::string me = "warpwright[bot]";

 private:
  forge::HttpResponse Route(const forge::HttpRequest& request);
  forge::HttpResponse PullRequests(const std::string& method, const std::string& rest, const std::string& query,
                                   const json& body);
  forge::HttpResponse Issues(const std::string& method, const std::string& rest, const json& body);
  forge::HttpResponse Checks(const std::string& method, const std::string& rest, const json& body);
  json User() const { return {{"login", me}, {"type", "Bot"}}; }
  json* Find(json& list, const char* key, int64_t value);
  int64_t next_ = 1;
};

}  // namespace warpwright
