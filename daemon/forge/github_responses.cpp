#include "forge/github_responses.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;

tl::unexpected<Error> Missing(std::string_view what, std::string_view field) {
  return Fail(ErrorCode::kCorrupt, fmt::format("GitHub's response about {} has no valid '{}'", what, field));
}

// One object, or a list of them (at `key` of an object, if given), each decoded by `decode`.
template <typename T>
Result<T> One(std::string_view body, Result<T> (*decode)(const json&)) {
  WW_ASSIGN(const json value, ParseForeignJson(body, kMaxGithubAnswerBytes));
  return decode(value);
}
template <typename T>
Result<std::vector<T>> Many(std::string_view body, const char* key, Result<T> (*decode)(const json&)) {
  WW_ASSIGN(const json value, ParseForeignJson(body, kMaxGithubAnswerBytes));
  const json* items = key == nullptr ? &value : FindJson(value, {key});
  if (items == nullptr || !items->is_array()) return Fail(ErrorCode::kCorrupt, "GitHub's response is not a list");
  std::vector<T> list;
  list.reserve(items->size());
  for (const json& item : *items) {
    WW_ASSIGN(list.emplace_back(), decode(item));
  }
  return list;
}

GithubAuthor Author(const json& value) { return {TextAt(value, {"user", "login"}), TextAt(value, {"user", "type"})}; }

Result<GithubPullRequest> PullRequest(const json& value) {
  GithubPullRequest request;
  PullRequestView& view = request.view;
  view.number = IntegerAt(value, {"number"});
  if (view.number <= 0) return Missing("a pull request", "number");
  const std::string state = TextAt(value, {"state"});
  const bool merged =
      !TextAt(value, {"merged_at"}).empty() || BoolAt(value, {"merged"});  // lists contain only the first
  if (state == "open") view.state = PullRequestState::kOpen;
  else if (state == "closed") view.state = merged ? PullRequestState::kMerged : PullRequestState::kClosed;
  else return Missing("a pull request", "state");
  view.url = TextAt(value, {"html_url"});
  view.title = TextAt(value, {"title"});
  view.body = TextAt(value, {"body"});
  view.draft = BoolAt(value, {"draft"});
  view.head = TextAt(value, {"head", "ref"});
  view.head_sha = TextAt(value, {"head", "sha"});
  view.base = TextAt(value, {"base", "ref"});
  view.author = TextAt(value, {"user", "login"});
  request.head_repository = TextAt(value, {"head", "repo", "full_name"});
  for (const json& label : ItemsAt(value, {"labels"})) request.labels.push_back(TextAt(label, {"name"}));
  for (const json& user : ItemsAt(value, {"requested_reviewers"})) request.reviewers.push_back(TextAt(user, {"login"}));
  for (const json& team : ItemsAt(value, {"requested_teams"}))
    request.reviewers.push_back("team:" + TextAt(team, {"slug"}));
  return request;
}

Result<GithubIssue> Issue(const json& value) {
  GithubIssue issue;
  issue.number = IntegerAt(value, {"number"});
  if (issue.number <= 0) return Missing("an issue", "number");
  issue.title = TextAt(value, {"title"});
  issue.body = TextAt(value, {"body"});
  issue.open = TextAt(value, {"state"}) == "open";
  issue.author = Author(value);
  issue.is_pull_request = FindJson(value, {"pull_request"}) != nullptr;
  return issue;
}

Result<GithubComment> Comment(const json& value) {
  GithubComment comment{IntegerAt(value, {"id"}), TextAt(value, {"body"}), Author(value)};
  if (comment.id <= 0) return Missing("a comment", "id");
  return comment;
}

Result<GithubIssueEvent> IssueEvent(const json& value) {
  GithubIssueEvent event{TextAt(value, {"event"}), TextAt(value, {"label", "name"})};
  if (event.subject.empty()) event.subject = TextAt(value, {"requested_reviewer", "login"});
  const std::string team = TextAt(value, {"requested_team", "slug"});
  if (!team.empty()) event.subject = "team:" + team;
  return event;
}

Result<GithubCheckRun> CheckRun(const json& value) {
  GithubCheckRun run;
  run.id = IntegerAt(value, {"id"});
  if (run.id <= 0) return Missing("a check run", "id");
  run.name = TextAt(value, {"name"});
  run.external_id = TextAt(value, {"external_id"});
  run.status = TextAt(value, {"status"});
  run.conclusion = TextAt(value, {"conclusion"});
  run.details_url = TextAt(value, {"details_url"});
  run.title = TextAt(value, {"output", "title"});
  run.summary = TextAt(value, {"output", "summary"});
  run.text = TextAt(value, {"output", "text"});
  run.annotations = IntegerAt(value, {"output", "annotations_count"});
  return run;
}

Result<GithubStatus> CommitStatus(const json& value) {
  GithubStatus status{.id = IntegerAt(value, {"id"}),
                      .context = TextAt(value, {"context"}),
                      .state = TextAt(value, {"state"}),
                      .description = TextAt(value, {"description"}),
                      .target_url = TextAt(value, {"target_url"})};
  if (status.id <= 0) return Missing("a status", "id");
  return status;
}

Result<Permission> PermissionIn(const json& value) {
  // `role_name` may be a custom role of an organization; `permission` is then the basic one below it.
  for (const char* key : {"role_name", "permission"}) {
    const std::string name = TextAt(value, {key});
    for (Permission permission : {Permission::kNone, Permission::kRead, Permission::kTriage, Permission::kWrite,
                                  Permission::kMaintain, Permission::kAdmin})
      if (name == Name(permission)) return permission;
  }
  return Missing("a permission", "permission");
}

Result<std::string> NeedText(const json& value, const char* key, std::string_view what) {
  std::string text = TextAt(value, {key});
  if (text.empty()) return Missing(what, key);
  return text;
}
Result<std::string> LoginIn(const json& value) { return NeedText(value, "login", "the user"); }
Result<std::string> SlugIn(const json& value) { return NeedText(value, "slug", "the App"); }
Result<int64_t> InstallationIn(const json& value) {
  const int64_t id = IntegerAt(value, {"id"});
  if (id <= 0) return Missing("an installation", "id");
  return id;
}
Result<GithubInstallationToken> InstallationTokenIn(const json& value) {
  GithubInstallationToken token;
  WW_ASSIGN(token.token, NeedText(value, "token", "an installation token"));
  WW_ASSIGN(token.expires_at, NeedText(value, "expires_at", "an installation token"));
  return token;
}

}  // namespace

Result<GithubPullRequest> DecodePullRequest(std::string_view body) { return One(body, PullRequest); }
Result<std::vector<GithubPullRequest>> DecodePullRequests(std::string_view body) {
  return Many(body, nullptr, PullRequest);
}
Result<GithubIssue> DecodeIssue(std::string_view body) { return One(body, Issue); }
Result<std::vector<GithubIssue>> DecodeIssues(std::string_view body) { return Many(body, nullptr, Issue); }
Result<GithubComment> DecodeComment(std::string_view body) { return One(body, Comment); }
Result<std::vector<GithubComment>> DecodeComments(std::string_view body) { return Many(body, nullptr, Comment); }
Result<std::vector<GithubIssueEvent>> DecodeIssueEvents(std::string_view body) {
  return Many(body, nullptr, IssueEvent);
}
Result<GithubCheckRun> DecodeCheckRun(std::string_view body) { return One(body, CheckRun); }
Result<std::vector<GithubCheckRun>> DecodeCheckRuns(std::string_view body) {
  return Many(body, "check_runs", CheckRun);
}
Result<GithubStatus> DecodeStatus(std::string_view body) { return One(body, CommitStatus); }
Result<std::vector<GithubStatus>> DecodeStatuses(std::string_view body) { return Many(body, nullptr, CommitStatus); }
Result<Permission> DecodePermission(std::string_view body) { return One(body, PermissionIn); }
Result<std::string> DecodeLogin(std::string_view body) { return One(body, LoginIn); }
Result<std::string> DecodeAppSlug(std::string_view body) { return One(body, SlugIn); }
Result<int64_t> DecodeInstallation(std::string_view body) { return One(body, InstallationIn); }
Result<GithubInstallationToken> DecodeInstallationToken(std::string_view body) {
  return One(body, InstallationTokenIn);
}

bool IsAlreadyExistsError(std::string_view body) {
  const auto value = ParseForeignJson(body, kMaxGithubAnswerBytes);
  if (!value) return false;
  for (const json& error : ItemsAt(*value, {"errors"}))
    if (TextAt(error, {"message"}).find("already exists") != std::string::npos ||
        TextAt(error, {"code"}) == "already_exists")
      return true;
  return false;
}

}  // namespace warpwright::forge
