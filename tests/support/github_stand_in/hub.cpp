#include "tests/support/github_stand_in/hub.h"

#include <fmt/format.h>

#include <charconv>

#include "base/clock.h"
#include "tests/support/github_stand_in/git_backend.h"
#include "tests/support/github_stand_in/interface_rules.h"

namespace warpwright::stand_in {

std::string Hub::NowText() const { return base::FormatUtc(Now()); }

json Hub::User(const std::string& login) const {
  const bool bot = login.ends_with("[bot]");
  return {{"login", login},
          {"id", 100 + std::hash<std::string>()(login) % 1'000'000},
          {"type", bot ? "Bot" : "User"},
          {"site_admin", false}};
}

std::string Call::Query(const std::string& name, const std::string& otherwise) const {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

int64_t Call::Number(const std::string& parameter) const {
  const std::string& text = parameters.at(parameter);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

Answer Refuse(int status, const std::string& message) {
  return {
      status,
      {{"message", message}, {"documentation_url", "https://docs.github.com/rest"}, {"status", std::to_string(status)}},
      {}};
}

Answer Invalid(const std::string& resource, const std::string& field, const std::string& code,
               const std::string& message) {
  Answer answer = Refuse(422, "Validation Failed");
  json error = {{"resource", resource}, {"code", code}};
  if (!field.empty()) error["field"] = field;
  if (!message.empty()) error["message"] = message;
  answer.body["errors"] = json::array({error});
  return answer;
}

Answer Page(const Hub& hub, const Call& call, const std::vector<json>& all) {
  const size_t per_page = std::stoul(call.Query("per_page", "30")), page = std::stoul(call.Query("page", "1"));
  const size_t pages = std::max<size_t>(1, (all.size() + per_page - 1) / per_page);
  Answer answer{200, json::array(), {}};
  for (size_t i = (page - 1) * per_page; i < std::min(all.size(), page * per_page); ++i) answer.body.push_back(all[i]);
  const auto link = [&](size_t number, const char* relation) {
    std::string query;
    for (const auto& [name, value] : call.query)
      if (name != "page") query += name + "=" + value + "&";
    return fmt::format("<{}/api/v3{}?{}page={}>; rel=\"{}\"", hub.url, call.path, query, number, relation);
  };
  std::string links;
  if (page > 1) links += link(page - 1, "prev") + ", " + link(1, "first");
  if (page < pages) links += (links.empty() ? "" : ", ") + link(page + 1, "next") + ", " + link(pages, "last");
  if (!links.empty()) answer.headers["Link"] = links;
  return answer;
}

std::optional<Answer> TooLong(const Call& call, const std::string& resource, const std::string& field) {
  if (!call.body.contains(field) || !call.body.at(field).is_string()) return std::nullopt;
  const size_t limit = field == "title" ? 256 : kMaxBodyCodePoints;
  if (CodePoints(call.body.at(field).get<std::string>()) <= limit) return std::nullopt;
  return Invalid(resource, field, "custom", fmt::format("{} is too long (maximum is {} characters)", field, limit));
}

void AddEvent(Hub& hub, Repo& repo, int64_t number, const std::string& event, const std::string& actor,
              const json& more) {
  json made = {{"id", hub.next_id++}, {"event", event}, {"actor", hub.User(actor)}, {"created_at", hub.NowText()}};
  made.update(more);
  repo.events[number].push_back(std::move(made));
}

void Refresh(Hub& hub, Repo& repo) {
  const auto refs = ReadRefs(repo.git);
  for (auto& [number, pull] : repo.pulls) {
    if (pull.at("state") != "open") continue;
    const auto tip = refs.find("refs/heads/" + pull.at("head").at("ref").get<std::string>());
    if (tip == refs.end()) SetPullState(hub, repo, number, "closed", false, "ghost");
    else pull["head"]["sha"] = tip->second;
  }
}

void SetPullState(Hub& hub, Repo& repo, int64_t number, const std::string& state, bool merged,
                  const std::string& actor) {
  json& pull = repo.pulls.at(number);
  if (pull.at("state") == state) return;
  json& issue = repo.issues.at(number);
  pull["state"] = issue["state"] = state;
  pull["closed_at"] = issue["closed_at"] = state == "closed" ? json(hub.NowText()) : json();
  if (merged) pull["merged_at"] = hub.NowText();
  AddEvent(hub, repo, number, merged ? "merged" : state == "closed" ? "closed" : "reopened", actor);
}

json MakeComment(Hub& hub, Repo& repo, int64_t issue, const std::string& login, const std::string& body) {
  const int64_t id = hub.next_id++;
  const std::string permission = repo.permissions.contains(login) ? repo.permissions.at(login) : "";
  repo.comments[id] = {{"id", id},
                       {"body", body},
                       {"user", hub.User(login)},
                       {"author_association", permission.empty() ? "NONE" : "COLLABORATOR"},
                       {"html_url", fmt::format("{}/{}/issues/{}#issuecomment-{}", hub.url, repo.name, issue, id)},
                       {"issue_url", fmt::format("{}/api/v3/repos/{}/issues/{}", hub.url, repo.name, issue)},
                       {"created_at", hub.NowText()},
                       {"updated_at", hub.NowText()}};
  return repo.comments.at(id);
}

}  // namespace warpwright::stand_in
