#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "forge/github_state.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;

constexpr size_t kAnnotationsPerRequest = 50, kMaxOutputCharacters = 65'535, kMaxAnnotationTitle = 255,
                 kMaxStatusDescription = 140;
constexpr size_t kMaxAnnotationMessage = 16'000;  // characters; the limit is 64 KB

constexpr std::string_view kCompleted = "completed";

Status CheckIdentity(const CheckRequest& request) {
  if (request.name.empty() || request.sha.empty() || request.external_id.empty())
    return Fail(ErrorCode::kUnsupported, "a check without name, commit or external id could not be found again");
  return {};
}

json AnnotationJson(const Annotation& annotation) {
  const int start = std::max(annotation.start_line, 1);
  json value = {{"path", annotation.path},
                {"start_line", start},
                {"end_line", std::max(annotation.end_line, start)},
                {"annotation_level", "notice"},
                {"message", base::Clip(annotation.message, kMaxAnnotationMessage)}};
  if (!annotation.title.empty()) value["title"] = base::Clip(annotation.title, kMaxAnnotationTitle);
  return value;
}

std::string Title(const CheckRequest& request) { return request.title.empty() ? request.name : request.title; }
std::string Summary(const CheckRequest& request) { return base::Clip(request.summary, kMaxOutputCharacters); }
std::string Text(const CheckRequest& request) { return base::Clip(request.text, kMaxOutputCharacters); }

// The request's values with annotations from `first` on, as many as one request may carry. `clear_text`: the present
// text must be removed.
json CheckJson(const CheckRequest& request, size_t first, bool clear_text) {
  json output = {{"title", Title(request)}, {"summary", Summary(request)}};
  if (!request.text.empty() || clear_text) output["text"] = Text(request);
  json annotations = json::array();
  for (size_t i = first; i < std::min(first + kAnnotationsPerRequest, request.annotations.size()); ++i)
    annotations.push_back(AnnotationJson(request.annotations[i]));
  if (!annotations.empty()) output["annotations"] = std::move(annotations);
  json body = {{"name", request.name},
               {"external_id", request.external_id},
               {"status", kCompleted},
               {"conclusion", Name(request.conclusion)},
               {"output", std::move(output)}};
  if (!request.details_url.empty()) body["details_url"] = request.details_url;
  return body;
}

bool IsAsWanted(const GithubCheckRun& run, const CheckRequest& request) {
  return run.status == kCompleted && run.conclusion == Name(request.conclusion) && run.title == Title(request) &&
         SameText(run.summary, Summary(request)) && SameText(run.text, Text(request)) &&
         (request.details_url.empty() || run.details_url == request.details_url);
}

}  // namespace

Result<std::optional<GithubCheckRun>> GithubClient::State::FindCheck(const RepositoryName& repository,
                                                                     const CheckRequest& request, bool& forbidden,
                                                                     RetryBudget& patience) {
  const std::string path =
      RepositoryPath(repository, fmt::format("/commits/{}/check-runs?check_name={}&filter=all&per_page=100",
                                             PercentEncoded(request.sha), PercentEncoded(request.name)));
  std::optional<GithubCheckRun> found;
  const auto visit = [&](const std::string& body) -> Result<bool> {
    WW_ASSIGN(auto page, DecodeCheckRuns(body));
    for (GithubCheckRun& run : page)
      if (run.name == request.name && run.external_id == request.external_id && (!found || run.id > found->id))
        found = std::move(run);
    return true;
  };
  int refused_with = 0;
  const Status read = transport->GetPages(repository, path, kMaxPages, patience, visit, &refused_with);
  forbidden = refused_with == 403;
  if (!read && !forbidden) return Fail(read.error());
  return found;
}

Result<std::optional<int64_t>> GithubClient::State::PutCheckRun(const RepositoryName& repository,
                                                                const CheckRequest& request, RetryBudget& patience) {
  while (true) {
    bool forbidden = false;
    WW_ASSIGN(const auto found, FindCheck(repository, request, forbidden, patience));
    if (forbidden) return std::nullopt;
    size_t sent = found ? static_cast<size_t>(std::max<int64_t>(found->annotations, 0))
                        : 0;  // existing annotations stay: they can only be added to
    if (found && IsAsWanted(*found, request) && sent >= request.annotations.size()) return found->id;

    int64_t id = found ? found->id : 0;
    bool lost = false;
    do {
      json body = CheckJson(request, sent, found && !found->text.empty());
      if (id == 0) body["head_sha"] = request.sha;
      const std::string path = RepositoryPath(repository, id == 0 ? "/check-runs" : fmt::format("/check-runs/{}", id));
      WW_ASSIGN(const GithubWrite written,
                transport->Write(repository, id == 0 ? "POST" : "PATCH", path, body, patience));
      lost = written.lost;
      if (lost) break;
      if (written.answer.status == 403 && id == 0) return std::nullopt;
      if (written.answer.status != (id == 0 ? 201 : 200))
        return Fail(transport->Refusal(written.answer,
                                       fmt::format("write the check '{}' of {}", request.name, repository.Full())));
      if (id == 0) {
        WW_ASSIGN(const GithubCheckRun made, DecodeCheckRun(written.answer.body));
        id = made.id;
      }
      sent += kAnnotationsPerRequest;
    } while (sent < request.annotations.size());
    if (!lost) return id;
  }
}

Result<int64_t> GithubClient::State::PutStatus(const RepositoryName& repository, const CheckRequest& request,
                                               RetryBudget& patience) {
  json body = {
      {"state", Name(request.conclusion == Conclusion::kFailure ? Conclusion::kFailure : Conclusion::kSuccess)},
      {"context", request.name},
      {"description", base::Clip(Title(request), kMaxStatusDescription)}};
  if (!request.details_url.empty()) body["target_url"] = request.details_url;
  const std::string list =
      RepositoryPath(repository, fmt::format("/commits/{}/statuses?per_page=100", PercentEncoded(request.sha)));
  while (true) {
    std::optional<GithubStatus> newest;  // a status is never changed: a newer one of the same context replaces it
    WW_TRY(
        transport->GetPages(repository, list, kMaxPages, patience, [&](const std::string& page_body) -> Result<bool> {
          WW_ASSIGN(auto page, DecodeStatuses(page_body));
          for (GithubStatus& status : page)
            if (SameIgnoringCase(status.context, request.name) && (!newest || status.id > newest->id))
              newest = std::move(status);
          return true;
        }));
    if (newest && body["state"] == newest->state && body["description"] == newest->description &&
        newest->target_url == request.details_url)
      return newest->id;
    WW_ASSIGN(const GithubWrite written,
              transport->Write(repository, "POST",
                               RepositoryPath(repository, "/statuses/" + PercentEncoded(request.sha)), body, patience));
    if (written.lost) continue;
    if (written.answer.status != 201)
      return Fail(transport->Refusal(written.answer,
                                     fmt::format("write the status '{}' of {}", request.name, repository.Full())));
    WW_ASSIGN(const GithubStatus made, DecodeStatus(written.answer.body));
    return made.id;
  }
}

Result<int64_t> GithubClient::PutCheck(const RepositoryName& repository, const CheckRequest& request) {
  WW_TRY(CheckIdentity(request));
  RetryBudget patience = state_->transport->Begin();
  const auto statuses_only = [&] {
    const std::lock_guard lock(state_->mutex);
    return state_->without_checks.contains(repository.Full());
  };
  if (!statuses_only()) {
    WW_ASSIGN(const std::optional<int64_t> id, state_->PutCheckRun(repository, request, patience));
    if (id) return *id;
    {
      const std::lock_guard lock(state_->mutex);
      state_->without_checks.insert(repository.Full());
    }
    state_->Say(
        fmt::format("{}: this token may not write check runs, a GitHub App with 'checks: write' may; commit statuses "
                    "are written instead, without annotations",
                    repository.Full()));
  }
  return state_->PutStatus(repository, request, patience);
}

}  // namespace warpwright::forge
