#include "tests/unit/forge/model_github.h"

namespace warpwright {
namespace {

using nlohmann::json;

http::ClientResponse Made(int status, const json& value) { return Answer(status, value.dump()); }
int64_t NumberIn(const std::string& rest) { return std::stoll(rest.substr(1)); }

}  // namespace

json* ModelGithub::Find(json& list, const char* key, int64_t value) {
  for (json& item : list)
    if (item[key] == value) return &item;
  return nullptr;
}

Result<http::ClientResponse> ModelGithub::Serve(const http::ClientRequest& request) {
  const Fault what = fault ? fault(served++) : Fault::kNone;
  if (what == Fault::k502Before) return Answer(502, "<html>Bad gateway</html>");
  if (what == Fault::kRateLimit) return Answer(403, "{}", {{"retry-after", "3"}});
  http::ClientResponse answer = Route(request);
  if (what == Fault::k502After) return Answer(502, "<html>Bad gateway</html>");
  if (what == Fault::kTimeoutAfter) return Fail(ErrorCode::kTimeout, "no answer");
  return answer;
}

http::ClientResponse ModelGithub::Route(const http::ClientRequest& request) {
  const std::string root = "https://api.github.com/repos/acme/kernels";
  if (!request.url.starts_with(root)) return Answer(404);
  std::string path = request.url.substr(root.size());
  const size_t question = path.find('?');
  const std::string query = question == std::string::npos ? "" : path.substr(question);
  path = path.substr(0, question);
  const json body = request.body.empty() ? json() : json::parse(request.body);
  if (path.starts_with("/pulls")) return PullRequests(request.method, path.substr(6), query, body);
  if (path.starts_with("/issues")) return Issues(request.method, path.substr(7), body);
  return Checks(request.method, path, body);
}

http::ClientResponse ModelGithub::PullRequests(const std::string& method, const std::string& rest, const std::string&,
                                               const json& body) {
  if (rest.empty() && method == "GET") return Made(200, pulls);
  if (rest.empty()) {
    for (const json& pull : pulls)
      if (pull["head"]["ref"] == body["head"] && pull["state"] == "open")
        return Made(422, {{"message", "Validation Failed"},
                          {"errors", json::array({json{{"message", "A pull request already exists for acme:x."}}})}});
    json pull = body;
    pull["number"] = next_++;
    pull["state"] = "open";
    pull["html_url"] = "https://github.com/acme/kernels/pull/" + pull["number"].dump();
    pull["merged_at"] = nullptr;
    pull["head"] = {{"ref", body["head"]}, {"sha", std::string(40, 'a')}, {"repo", {{"full_name", "acme/kernels"}}}};
    pull["base"] = {{"ref", body["base"]}};
    pull["user"] = User();
    pull["labels"] = pull["requested_reviewers"] = pull["requested_teams"] = json::array();
    pulls.push_back(pull);
    return Made(201, pull);
  }
  json* pull = Find(pulls, "number", NumberIn(rest));
  if (pull == nullptr) return Answer(404);
  if (rest.ends_with("/requested_reviewers")) {
    for (const json& login : body["reviewers"]) {
      (*pull)["requested_reviewers"].push_back({{"login", login}});
      events[NumberIn(rest)].push_back({{"event", "review_requested"}, {"requested_reviewer", {{"login", login}}}});
    }
    return Made(201, *pull);
  }
  if (method == "PATCH") {
    for (const char* key : {"title", "body"})
      if (body.contains(key)) (*pull)[key] = body[key];
    if (body.contains("base")) (*pull)["base"]["ref"] = body["base"];
  }
  return Made(200, *pull);
}

http::ClientResponse ModelGithub::Issues(const std::string& method, const std::string& rest, const json& body) {
  if (rest.empty() && method == "GET") return Made(200, issues);
  if (rest.empty()) {
    issues.push_back(
        {{"number", next_++}, {"title", body["title"]}, {"body", body["body"]}, {"state", "open"}, {"user", User()}});
    return Made(201, issues.back());
  }
  if (rest.starts_with("/comments/")) {
    json* comment = Find(comments, "id", NumberIn(rest.substr(9)));
    if (comment == nullptr) return Answer(404);
    (*comment)["body"] = body["body"];
    return Made(200, *comment);
  }
  const int64_t number = NumberIn(rest);
  if (rest.ends_with("/comments")) {
    if (method == "GET") return Made(200, comments);
    comments.push_back({{"id", next_++}, {"body", body["body"]}, {"user", User()}});
    return Made(201, comments.back());
  }
  if (rest.ends_with("/events")) return Made(200, events[number].is_null() ? json::array() : events[number]);
  if (rest.ends_with("/labels")) {
    json* pull = Find(pulls, "number", number);
    for (const json& label : body["labels"]) {
      bool there = false;
      for (const json& has : (*pull)["labels"]) there = there || has["name"] == label;
      if (!there) (*pull)["labels"].push_back({{"name", label}});
    }
    return Made(200, (*pull)["labels"]);
  }
  json* issue = Find(issues, "number", number);
  if (issue == nullptr) return Answer(404);
  for (const char* key : {"title", "body"})
    if (body.contains(key)) (*issue)[key] = body[key];
  return Made(200, *issue);
}

http::ClientResponse ModelGithub::Checks(const std::string& method, const std::string& rest, const json& body) {
  if (rest.find("/statuses") != std::string::npos) {
    if (method == "GET") return Made(200, statuses);
    statuses.push_back(body);
    statuses.back()["id"] = next_++;
    return Made(201, statuses.back());
  }
  if (!checks_allowed && method != "GET")
    return Answer(403, R"({"message":"You must authenticate via a GitHub App."})");
  if (method == "GET") return Made(200, {{"total_count", checks.size()}, {"check_runs", checks}});
  const bool fresh = method == "POST";
  if (fresh)
    checks.push_back({{"id", next_++},
                      {"conclusion", nullptr},
                      {"output", {{"annotations_count", 0}}},
                      {"annotations", json::array()}});
  json* check = fresh ? &checks.back() : Find(checks, "id", NumberIn(rest.substr(11)));
  if (check == nullptr) return Answer(404);
  for (const auto& [key, value] : body.items())
    if (key != "output") (*check)[key] = value;
  for (const auto& [key, value] : body["output"].items()) {
    if (key != "annotations") (*check)["output"][key] = value;
    else
      for (const json& annotation : value) (*check)["annotations"].push_back(annotation);
  }
  (*check)["output"]["annotations_count"] = (*check)["annotations"].size();
  return Made(fresh ? 201 : 200, *check);
}

}  // namespace warpwright
