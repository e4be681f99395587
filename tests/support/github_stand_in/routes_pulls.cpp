// Pull requests: list, open, change, request reviews.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/hub.h"

namespace warpwright::stand_in {
namespace {

std::string OwnerOf(const Repo& repo) { return repo.name.substr(0, repo.name.find('/')); }

// As in lists and single responses; labels are the issue's.
json Shown(const Repo& repo, int64_t number) {
  json pull = repo.pulls.at(number);
  pull["labels"] = repo.issues.at(number).at("labels");
  return pull;
}
// Fields that only the response about a single one has.
json Whole(const Repo& repo, int64_t number) {
  json pull = Shown(repo, number);
  pull["merged"] = !pull.at("merged_at").is_null();
  return pull;
}

Answer ListPulls(Hub& hub, const Call& call) {
  Repo& repo = *call.repo;
  Refresh(hub, repo);
  const std::string state = call.Query("state", "open"), head = call.Query("head", ""), base = call.Query("base", "");
  std::vector<json> found;
  for (const auto& [number, pull] : repo.pulls) {
    if (state != "all" && pull.at("state") != state) continue;
    if (!head.empty() && pull.at("head").at("label") != head) continue;
    if (!base.empty() && pull.at("base").at("ref") != base) continue;
    found.push_back(Shown(repo, number));
  }
  if (call.Query("direction", call.Query("sort", "created") == "created" ? "desc" : "asc") == "desc")
    std::reverse(found.begin(), found.end());
  return Page(hub, call, found);
}

json MakePull(Hub& hub, Repo& repo, const Call& call, const std::map<std::string, std::string>& refs) {
  const int64_t number = repo.next_number++;
  const std::string head = call.body.at("head"), base = call.body.at("base"), now = hub.NowText();
  const auto side = [&](const std::string& ref) {
    return json{
        {"ref", ref},
        {"label", OwnerOf(repo) + ":" + ref},
        {"sha", refs.at("refs/heads/" + ref)},
        {"user", hub.User(OwnerOf(repo))},
        {"repo", {{"full_name", repo.name}, {"name", repo.name.substr(repo.name.find('/') + 1)}, {"fork", false}}}};
  };
  const json shared = {{"number", number},
                       {"title", call.body.at("title")},
                       {"body", call.body.value("body", json())},
                       {"state", "open"},
                       {"user", hub.User(call.token->login)},
                       {"created_at", now},
                       {"updated_at", now},
                       {"closed_at", nullptr},
                       {"html_url", fmt::format("{}/{}/pull/{}", hub.url, repo.name, number)}};
  json pull = shared, issue = shared;
  pull.update({{"id", hub.next_id++},
               {"head", side(head)},
               {"base", side(base)},
               {"draft", call.body.value("draft", false)},
               {"merged_at", nullptr},
               {"requested_reviewers", json::array()},
               {"requested_teams", json::array()}});
  issue.update({{"id", hub.next_id++},
                {"labels", json::array()},
                {"comments", 0},
                {"pull_request", {{"html_url", shared.at("html_url")}}}});
  repo.pulls[number] = pull;
  repo.issues[number] = issue;
  return Whole(repo, number);
}

Answer CreatePull(Hub& hub, const Call& call) {
  Repo& repo = *call.repo;
  Refresh(hub, repo);
  for (const char* field : {"title", "body"})
    if (auto refused = TooLong(call, "PullRequest", field)) return *refused;
  if (!call.body.contains("title")) return Invalid("PullRequest", "title", "missing_field");
  const auto refs = ReadRefs(repo.git);
  for (const char* side : {"head", "base"})
    if (!refs.contains("refs/heads/" + call.body.at(side).get<std::string>()))
      return Invalid("PullRequest", side, "invalid");
  const std::string head = call.body.at("head"), base = call.body.at("base");
  for (const auto& [number, pull] : repo.pulls)
    if (pull.at("state") == "open" && pull.at("head").at("ref") == head && pull.at("base").at("ref") == base)
      return Invalid("PullRequest", "", "custom",
                     fmt::format("A pull request already exists for {}:{}.", OwnerOf(repo), head));
  if (AskGit(repo.git, {"rev-list", "--count", "refs/heads/" + base + "..refs/heads/" + head}) == "0")
    return Invalid("PullRequest", "", "custom", fmt::format("No commits between {} and {}", base, head));
  return {201, MakePull(hub, repo, call, refs), {}};
}

Answer ReadPull(Hub& hub, const Call& call) {
  Refresh(hub, *call.repo);
  const int64_t number = call.Number("pull_number");
  if (!call.repo->pulls.contains(number)) return Refuse(404, "Not Found");
  return {200, Whole(*call.repo, number), {}};
}

Answer ChangePull(Hub& hub, const Call& call) {
  Repo& repo = *call.repo;
  Refresh(hub, repo);
  const int64_t number = call.Number("pull_number");
  if (!repo.pulls.contains(number)) return Refuse(404, "Not Found");
  for (const char* field : {"title", "body"})
    if (auto refused = TooLong(call, "PullRequest", field)) return *refused;
  json& pull = repo.pulls.at(number);
  if (call.body.contains("base")) {
    const auto refs = ReadRefs(repo.git);
    const std::string base = call.body.at("base");
    if (!refs.contains("refs/heads/" + base)) return Invalid("PullRequest", "base", "invalid");
    pull["base"]["ref"] = base;
    pull["base"]["sha"] = refs.at("refs/heads/" + base);
  }
  for (const char* field : {"title", "body"})
    if (call.body.contains(field)) pull[field] = repo.issues.at(number)[field] = call.body.at(field);
  if (call.body.contains("state")) SetPullState(hub, repo, number, call.body.at("state"), false, call.token->login);
  pull["updated_at"] = hub.NowText();
  return {200, Whole(repo, number), {}};
}

Answer RequestReviews(Hub& hub, const Call& call) {
  Repo& repo = *call.repo;
  const int64_t number = call.Number("pull_number");
  if (!repo.pulls.contains(number)) return Refuse(404, "Not Found");
  json& pull = repo.pulls.at(number);
  for (const json& login : call.body.value("reviewers", json::array())) {
    if (!repo.permissions.contains(login.get<std::string>()))
      return Refuse(422,
                    "Reviews may only be requested from collaborators. One or more of the users or teams you specified "
                    "is not a collaborator of the " +
                        repo.name + " repository.");
    if (login == pull.at("user").at("login"))
      return Refuse(422, "Review cannot be requested from pull request author.");
    pull["requested_reviewers"].push_back(hub.User(login));
    AddEvent(hub, repo, number, "review_requested", call.token->login, {{"requested_reviewer", hub.User(login)}});
  }
  for (const json& slug : call.body.value("team_reviewers", json::array())) {
    pull["requested_teams"].push_back({{"slug", slug}, {"name", slug}});
    AddEvent(hub, repo, number, "review_requested", call.token->login, {{"requested_team", {{"slug", slug}}}});
  }
  return {201, Shown(repo, number), {}};
}

}  // namespace

void AddPullRoutes(RouteTable& routes) {
  const std::string pulls = " /repos/{owner}/{repo}/pulls";
  routes["GET" + pulls] = ListPulls;
  routes["POST" + pulls] = CreatePull;
  routes["GET" + pulls + "/{pull_number}"] = ReadPull;
  routes["PATCH" + pulls + "/{pull_number}"] = ChangePull;
  routes["POST" + pulls + "/{pull_number}/requested_reviewers"] = RequestReviews;
}

}  // namespace warpwright::stand_in
