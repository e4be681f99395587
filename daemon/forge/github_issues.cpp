#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "forge/github_state.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 8> kReactions = {"+1",    "-1",     "laugh",  "confused",
                                                        "heart", "hooray", "rocket", "eyes"};

}  // namespace

Result<std::optional<GithubIssue>> GithubClient::State::FindDashboard(const RepositoryName& repository,
                                                                      const std::string& marker,
                                                                      RetryBudget& patience) {
  WW_ASSIGN(const std::string us, Login(repository, patience));
  const auto look = [&](const std::string& filter) -> Result<std::optional<GithubIssue>> {
    std::optional<GithubIssue> found;
    const std::string path =
        RepositoryPath(repository, fmt::format("/issues?state=all&sort=created&per_page=100{}", filter));
    WW_TRY(transport->GetPages(repository, path, kMaxPages, patience, [&](const std::string& body) -> Result<bool> {
      WW_ASSIGN(auto page, DecodeIssues(body));
      for (GithubIssue& issue : page) {
        if (issue.is_pull_request || !IsOurs(issue.author, us) || issue.body.find(marker) == std::string::npos)
          continue;
        if (!found || issue.open) found = std::move(issue);
        if (found->open) return false;
      }
      return true;
    }));
    return found;
  };
  WW_ASSIGN(auto found, look("&direction=asc&labels=" + PercentEncoded(options.label)));
  // A label may be missing: removed, or dropped silently if the token may not set labels.
  if (!found) {
    WW_ASSIGN(found, look("&direction=desc" + (us.empty() ? "" : "&creator=" + PercentEncoded(us))));
  }
  return found;
}

Result<int64_t> GithubClient::PutDashboard(const RepositoryName& repository, const DashboardRequest& request) {
  WW_TRY(CheckBody(request.body));
  if (request.marker.empty() || request.body.find(request.marker) == std::string::npos)
    return Fail(ErrorCode::kUnsupported, "a dashboard without its marker could not be found again");
  GithubTransport& transport = *state_->transport;
  RetryBudget patience = transport.Begin();
  while (true) {
    WW_ASSIGN(const auto found, state_->FindDashboard(repository, request.marker, patience));
    const std::string what = fmt::format("write the dashboard issue of {}", repository.Full());
    if (!found) {
      const json body = {
          {"title", request.title}, {"body", request.body}, {"labels", json::array({state_->options.label})}};
      WW_ASSIGN(const GithubWrite written,
                transport.Write(repository, "POST", RepositoryPath(repository, "/issues"), body, patience));
      if (written.lost) continue;
      if (written.answer.status != 201) return Fail(transport.Refusal(written.answer, what));
      WW_ASSIGN(const GithubIssue made, DecodeIssue(written.answer.body));
      return made.number;
    }
    json changes = json::object();
    if (found->title != request.title) changes["title"] = request.title;
    if (!SameText(found->body, request.body)) changes["body"] = request.body;
    if (changes.empty()) return found->number;
    WW_ASSIGN(const GithubWrite written,
              transport.Write(repository, "PATCH", RepositoryPath(repository, fmt::format("/issues/{}", found->number)),
                              changes, patience));
    if (written.lost) continue;
    if (written.answer.status != 200) return Fail(transport.Refusal(written.answer, what));
    return found->number;
  }
}

Result<std::optional<GithubComment>> GithubClient::State::FindComment(const RepositoryName& repository, int64_t issue,
                                                                      const std::string& marker,
                                                                      RetryBudget& patience) {
  WW_ASSIGN(const std::string us, Login(repository, patience));
  std::optional<GithubComment> found;
  const std::string path = RepositoryPath(repository, fmt::format("/issues/{}/comments?per_page=100", issue));
  WW_TRY(transport->GetPages(repository, path, kMaxPages, patience, [&](const std::string& body) -> Result<bool> {
    WW_ASSIGN(auto page, DecodeComments(body));
    for (GithubComment& comment : page)
      if (!found && IsOurs(comment.author, us) &&
          (comment.body.find(marker) != std::string::npos || SameText(comment.body, marker)))
        found = std::move(comment);
    return !found;
  }));
  return found;
}

Result<int64_t> GithubClient::PutComment(const RepositoryName& repository, const CommentRequest& request) {
  WW_TRY(CheckBody(request.body));
  const std::string& marker = request.marker.empty() ? request.body : request.marker;
  if (marker.empty() || request.body.find(marker) == std::string::npos)
    return Fail(ErrorCode::kUnsupported, "a comment without its marker could not be found again");
  GithubTransport& transport = *state_->transport;
  RetryBudget patience = transport.Begin();
  while (true) {
    WW_ASSIGN(const auto found, state_->FindComment(repository, request.issue, marker, patience));
    if (found && SameText(found->body, request.body)) return found->id;
    const std::string path = RepositoryPath(repository, found ? fmt::format("/issues/comments/{}", found->id)
                                                              : fmt::format("/issues/{}/comments", request.issue));
    WW_ASSIGN(const GithubWrite written,
              transport.Write(repository, found ? "PATCH" : "POST", path, json{{"body", request.body}}, patience));
    if (written.lost) continue;
    if (written.answer.status != (found ? 200 : 201))
      return Fail(transport.Refusal(written.answer, fmt::format("comment on {}#{}", repository.Full(), request.issue)));
    if (found) return found->id;
    WW_ASSIGN(const GithubComment made, DecodeComment(written.answer.body));
    return made.id;
  }
}

Status GithubClient::React(const RepositoryName& repository, int64_t comment, const std::string& reaction) {
  if (std::find(kReactions.begin(), kReactions.end(), reaction) == kReactions.end())
    return Fail(ErrorCode::kUnsupported, fmt::format("there is no reaction '{}'", base::Clip(reaction, 20)));
  RetryBudget patience = state_->transport->Begin();
  const std::string path = RepositoryPath(repository, fmt::format("/issues/comments/{}/reactions", comment));
  while (true) {  // a repeated reaction exists only once: the server returns 200 instead of 201
    WW_ASSIGN(const GithubWrite written,
              state_->transport->Write(repository, "POST", path, json{{"content", reaction}}, patience));
    if (written.lost) continue;
    if (written.answer.status == 200 || written.answer.status == 201) return {};
    return Fail(state_->transport->Refusal(written.answer,
                                           fmt::format("react to comment {} in {}", comment, repository.Full())));
  }
}

Result<Permission> GithubClient::PermissionOf(const RepositoryName& repository, const std::string& login) {
  if (login.empty()) return Permission::kNone;
  RetryBudget patience = state_->transport->Begin();
  const std::string path =
      RepositoryPath(repository, fmt::format("/collaborators/{}/permission", PercentEncoded(login)));
  WW_ASSIGN(const GithubResponse answer, state_->transport->Get(repository, path, patience));
  if (answer.status == 404) return Permission::kNone;  // no such user
  if (answer.status != 200)
    return Fail(state_->transport->Refusal(
        answer, fmt::format("ask what {} may do in {}", base::Clip(login, 100), repository.Full())));
  return DecodePermission(answer.body);
}

}  // namespace warpwright::forge
