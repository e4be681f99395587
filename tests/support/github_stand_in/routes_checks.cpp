// Check runs (a GitHub App's only) and commit statuses.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/hub.h"

namespace warpwright::stand_in {
namespace {

std::optional<Answer> NoApp(const Call& call) {
  if (call.token->app) return std::nullopt;
  return Refuse(403, "You must authenticate via a GitHub App.");
}
bool IsCommit(const Repo& repo, const std::string& sha) {
  return sha.size() == 40 && sha.find_first_not_of("0123456789abcdef") == sha.npos &&
         AskGit(repo.git, {"cat-file", "-t", sha}) == "commit";
}

// `output.annotations` only ever grows; the response contains only their number.
json Shown(const json& check) {
  json shown = check;
  shown["output"].erase("annotations");
  shown["output"]["annotations_count"] = check.at("output").at("annotations").size();
  return shown;
}

void Take(Hub& hub, json& check, const json& body) {
  for (const char* field : {"name", "details_url", "external_id", "status", "conclusion", "started_at", "completed_at"})
    if (body.contains(field)) check[field] = body.at(field);
  if (body.contains("conclusion")) {
    check["status"] = "completed";
    if (!body.contains("completed_at")) check["completed_at"] = hub.NowText();
  }
  if (!body.contains("output")) return;
  const json& output = body.at("output");
  for (const char* field : {"title", "summary", "text"})
    if (output.contains(field)) check["output"][field] = output.at(field);
  for (const json& annotation : output.value("annotations", json::array()))
    check["output"]["annotations"].push_back(annotation);
}

Answer CreateCheckRun(Hub& hub, const Call& call) {
  if (auto refused = NoApp(call)) return *refused;
  const std::string sha = call.body.at("head_sha");
  if (!IsCommit(*call.repo, sha)) return Refuse(422, "No commit found for SHA: " + sha);
  if (call.body.value("status", "") == "completed" && !call.body.contains("conclusion"))
    return Invalid("CheckRun", "conclusion", "missing_field");
  const int64_t id = hub.next_id++;
  json check = {
      {"id", id},
      {"head_sha", sha},
      {"status", "queued"},
      {"conclusion", nullptr},
      {"external_id", ""},
      {"details_url", ""},
      {"started_at", hub.NowText()},
      {"completed_at", nullptr},
      {"html_url", fmt::format("{}/{}/runs/{}", hub.url, call.repo->name, id)},
      {"app", {{"slug", hub.app ? hub.app->slug : "github-actions"}}},
      {"output", {{"title", nullptr}, {"summary", nullptr}, {"text", nullptr}, {"annotations", json::array()}}}};
  Take(hub, check, call.body);
  call.repo->checks[id] = check;
  return {201, Shown(check), {}};
}

Answer ReadCheckRun(Hub&, const Call& call) {
  const auto found = call.repo->checks.find(call.Number("check_run_id"));
  return found == call.repo->checks.end() ? Refuse(404, "Not Found") : Answer{200, Shown(found->second), {}};
}

Answer ChangeCheckRun(Hub& hub, const Call& call) {
  if (auto refused = NoApp(call)) return *refused;
  const auto found = call.repo->checks.find(call.Number("check_run_id"));
  if (found == call.repo->checks.end()) return Refuse(404, "Not Found");
  if (call.body.value("status", "") == "completed" && !call.body.contains("conclusion") &&
      found->second.at("conclusion").is_null())
    return Invalid("CheckRun", "conclusion", "missing_field");
  Take(hub, found->second, call.body);
  return {200, Shown(found->second), {}};
}

// filter=latest (the default) returns the newest of each name.
Answer OfCommit(Hub& hub, const Call& call) {
  const std::string name = call.Query("check_name", "");
  const bool latest = call.Query("filter", "latest") == "latest";
  std::vector<json> found;
  for (auto it = call.repo->checks.rbegin(); it != call.repo->checks.rend(); ++it) {
    const json& check = it->second;
    if (check.at("head_sha") != call.parameters.at("ref") || (!name.empty() && check.at("name") != name)) continue;
    if (latest && std::any_of(found.begin(), found.end(),
                              [&](const json& other) { return other.at("name") == check.at("name"); }))
      continue;
    found.push_back(Shown(check));
  }
  Answer answer = Page(hub, call, found);
  answer.body = {{"total_count", found.size()}, {"check_runs", answer.body}};
  return answer;
}

Answer Statuses(Hub& hub, const Call& call) { return Page(hub, call, call.repo->statuses[call.parameters.at("ref")]); }

Answer CreateStatus(Hub& hub, const Call& call) {
  const std::string sha = call.parameters.at("sha");
  if (!IsCommit(*call.repo, sha)) return Refuse(422, "No commit found for SHA: " + sha);
  if (call.body.contains("description") && call.body.at("description").is_string() &&
      call.body.at("description").get<std::string>().size() > 140)
    return Invalid("Status", "description", "custom", "description is too long (maximum is 140 characters)");
  json status = {{"id", hub.next_id++},
                 {"state", call.body.at("state")},
                 {"context", call.body.value("context", "default")},
                 {"description", call.body.value("description", json())},
                 {"target_url", call.body.value("target_url", json())},
                 {"creator", hub.User(call.token->login)},
                 {"created_at", hub.NowText()},
                 {"updated_at", hub.NowText()}};
  std::vector<json>& all = call.repo->statuses[sha];
  all.insert(all.begin(), status);
  return {201, status, {}};
}

}  // namespace

void AddCheckRoutes(RouteTable& routes) {
  const std::string repo = " /repos/{owner}/{repo}";
  routes["POST" + repo + "/check-runs"] = CreateCheckRun;
  routes["GET" + repo + "/check-runs/{check_run_id}"] = ReadCheckRun;
  routes["PATCH" + repo + "/check-runs/{check_run_id}"] = ChangeCheckRun;
  routes["GET" + repo + "/commits/{ref}/check-runs"] = OfCommit;
  routes["GET" + repo + "/commits/{ref}/statuses"] = Statuses;
  routes["POST" + repo + "/statuses/{sha}"] = CreateStatus;
}

}  // namespace warpwright::stand_in
