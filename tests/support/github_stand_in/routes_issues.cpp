// Issues, labels, comments, reactions.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/github_stand_in/hub.h"

namespace warpwright::stand_in {
namespace {

bool HasLabel(const json& issue, const std::string& name) {
  return std::any_of(issue.at("labels").begin(), issue.at("labels").end(),
                     [&](const json& label) { return label.at("name") == name; });
}

void PutLabels(Hub& hub, Repo& repo, int64_t number, const json& labels, const std::string& actor) {
  json& issue = repo.issues.at(number);
  for (const json& label : labels) {
    const std::string name = label.is_string() ? label.get<std::string>() : label.value("name", "");
    if (HasLabel(issue, name)) continue;
    issue["labels"].push_back({{"name", name}, {"color", "ededed"}});
    AddEvent(hub, repo, number, "labeled", actor, {{"label", {{"name", name}}}});
  }
}

Answer ListIssues(Hub& hub, const Call& call) {
  Refresh(hub, *call.repo);
  const std::string state = call.Query("state", "open"), creator = call.Query("creator", ""),
                    label = call.Query("labels", "");
  std::vector<json> found;
  for (const auto& [number, issue] : call.repo->issues) {
    if (state != "all" && issue.at("state") != state) continue;
    if (!creator.empty() && issue.at("user").at("login") != creator) continue;
    if (!label.empty() && !HasLabel(issue, label)) continue;
    found.push_back(issue);
  }
  if (call.Query("direction", "desc") == "desc") std::reverse(found.begin(), found.end());
  return Page(hub, call, found);
}

Answer CreateIssue(Hub& hub, const Call& call) {
  for (const char* field : {"title", "body"})
    if (auto refused = TooLong(call, "Issue", field)) return *refused;
  Repo& repo = *call.repo;
  const int64_t number = repo.next_number++;
  const std::string now = hub.NowText();
  repo.issues[number] = {{"id", hub.next_id++},
                         {"number", number},
                         {"title", call.body.at("title")},
                         {"body", call.body.value("body", json())},
                         {"state", "open"},
                         {"user", hub.User(call.token->login)},
                         {"labels", json::array()},
                         {"comments", 0},
                         {"created_at", now},
                         {"updated_at", now},
                         {"closed_at", nullptr},
                         {"html_url", fmt::format("{}/{}/issues/{}", hub.url, repo.name, number)}};
  PutLabels(hub, repo, number, call.body.value("labels", json::array()), call.token->login);
  return {201, repo.issues.at(number), {}};
}

Answer ReadIssue(Hub&, const Call& call) {
  const auto found = call.repo->issues.find(call.Number("issue_number"));
  return found == call.repo->issues.end() ? Refuse(404, "Not Found") : Answer{200, found->second, {}};
}

Answer ChangeIssue(Hub& hub, const Call& call) {
  Repo& repo = *call.repo;
  const int64_t number = call.Number("issue_number");
  if (!repo.issues.contains(number)) return Refuse(404, "Not Found");
  for (const char* field : {"title", "body"})
    if (auto refused = TooLong(call, "Issue", field)) return *refused;
  json& issue = repo.issues.at(number);
  for (const char* field : {"title", "body", "state"})
    if (call.body.contains(field)) issue[field] = call.body.at(field);
  issue["updated_at"] = hub.NowText();
  return {200, issue, {}};
}

Answer Events(Hub& hub, const Call& call) {
  const int64_t number = call.Number("issue_number");
  if (!call.repo->issues.contains(number)) return Refuse(404, "Not Found");
  return Page(hub, call, call.repo->events[number]);
}

Answer AddLabels(Hub& hub, const Call& call) {
  const int64_t number = call.Number("issue_number");
  if (!call.repo->issues.contains(number)) return Refuse(404, "Not Found");
  PutLabels(hub, *call.repo, number, call.body.is_array() ? call.body : call.body.value("labels", json::array()),
            call.token->login);
  return {200, call.repo->issues.at(number).at("labels"), {}};
}

Answer Comments(Hub& hub, const Call& call) {
  const int64_t number = call.Number("issue_number");
  if (!call.repo->issues.contains(number)) return Refuse(404, "Not Found");
  std::vector<json> found;
  for (const auto& [id, comment] : call.repo->comments)
    if (comment.at("issue_url").get<std::string>().ends_with("/issues/" + std::to_string(number)))
      found.push_back(comment);
  return Page(hub, call, found);
}

Answer CreateComment(Hub& hub, const Call& call) {
  const int64_t number = call.Number("issue_number");
  if (!call.repo->issues.contains(number)) return Refuse(404, "Not Found");
  if (auto refused = TooLong(call, "IssueComment", "body")) return *refused;
  return {201, MakeComment(hub, *call.repo, number, call.token->login, call.body.at("body")), {}};
}

Answer ReadComment(Hub&, const Call& call) {
  const auto found = call.repo->comments.find(call.Number("comment_id"));
  return found == call.repo->comments.end() ? Refuse(404, "Not Found") : Answer{200, found->second, {}};
}

Answer ChangeComment(Hub& hub, const Call& call) {
  const auto found = call.repo->comments.find(call.Number("comment_id"));
  if (found == call.repo->comments.end()) return Refuse(404, "Not Found");
  if (auto refused = TooLong(call, "IssueComment", "body")) return *refused;
  found->second["body"] = call.body.at("body");
  found->second["updated_at"] = hub.NowText();
  return {200, found->second, {}};
}

Answer Reactions(Hub& hub, const Call& call) {
  const int64_t id = call.Number("comment_id");
  if (!call.repo->comments.contains(id)) return Refuse(404, "Not Found");
  return Page(hub, call, call.repo->reactions[id]);
}

// Repeating a user's reaction returns 200 and changes nothing.
Answer React(Hub& hub, const Call& call) {
  const int64_t id = call.Number("comment_id");
  if (!call.repo->comments.contains(id)) return Refuse(404, "Not Found");
  std::vector<json>& reactions = call.repo->reactions[id];
  for (const json& reaction : reactions)
    if (reaction.at("content") == call.body.at("content") && reaction.at("user").at("login") == call.token->login)
      return {200, reaction, {}};
  reactions.push_back({{"id", hub.next_id++},
                       {"content", call.body.at("content")},
                       {"user", hub.User(call.token->login)},
                       {"created_at", hub.NowText()}});
  return {201, reactions.back(), {}};
}

}  // namespace

void AddIssueRoutes(RouteTable& routes) {
  const std::string issues = " /repos/{owner}/{repo}/issues", issue = issues + "/{issue_number}",
                    comment = issues + "/comments/{comment_id}";
  routes["GET" + issues] = ListIssues;
  routes["POST" + issues] = CreateIssue;
  routes["GET" + issue] = ReadIssue;
  routes["PATCH" + issue] = ChangeIssue;
  routes["GET" + issue + "/events"] = Events;
  routes["POST" + issue + "/labels"] = AddLabels;
  routes["GET" + issue + "/comments"] = Comments;
  routes["POST" + issue + "/comments"] = CreateComment;
  routes["GET" + comment] = ReadComment;
  routes["PATCH" + comment] = ChangeComment;
  routes["GET" + comment + "/reactions"] = Reactions;
  routes["POST" + comment + "/reactions"] = React;
}

}  // namespace warpwright::stand_in
