#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "forge/github_state.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;

// 422 is "validation failed, or the endpoint has been spammed": only a refusal that is repeated this often is about the
// label or the reviewer.
constexpr int kMaxRefusals = 3;

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& other) { return SameIgnoringCase(name, other); });
}
bool Happened(const std::vector<GithubIssueEvent>& history, std::string_view event, const std::string& subject) {
  return std::any_of(history.begin(), history.end(), [&](const GithubIssueEvent& e) {
    return e.event == event && SameIgnoringCase(e.subject, subject);
  });
}

// An open one, preferably one that already has the wanted base.
const GithubPullRequest* OpenOne(const std::vector<GithubPullRequest>& all, const std::string& base) {
  const GithubPullRequest* best = nullptr;
  for (const GithubPullRequest& request : all) {
    if (request.view.state != PullRequestState::kOpen) continue;
    if (best == nullptr || (best->view.base != base && request.view.base == base)) best = &request;
  }
  return best;
}

// What has to be sent to bring `present` to the wanted state.
json Difference(const PullRequestView& present, const PullRequestRequest& wanted, bool leave_body) {
  json changes = json::object();
  if (present.title != wanted.title) changes["title"] = wanted.title;
  if (!leave_body && !SameText(present.body, wanted.body)) changes["body"] = wanted.body;
  if (present.base != wanted.base) changes["base"] = wanted.base;
  return changes;
}

}  // namespace

Result<std::vector<GithubPullRequest>> GithubClient::State::PullRequestsOf(const RepositoryName& repository,
                                                                           const std::string& head,
                                                                           RetryBudget& patience) {
  const std::string path =
      RepositoryPath(repository, fmt::format("/pulls?state=all&head={}&sort=created&direction=desc&per_page=100",
                                             PercentEncoded(repository.owner + ":" + head)));
  std::vector<GithubPullRequest> all;
  WW_TRY(transport->GetPages(repository, path, kMaxPages, patience, [&](const std::string& body) -> Result<bool> {
    WW_ASSIGN(auto page, DecodePullRequests(body));
    for (GithubPullRequest& request :
         page)  // excludes a fork's branch of that name, and whatever else the filter let through
      if (request.view.head == head && SameIgnoringCase(request.head_repository, repository.Full()))
        all.push_back(std::move(request));
    return true;
  }));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.view.number > b.view.number; });
  return all;
}

Result<GithubPullRequest> GithubClient::State::PullRequest(const RepositoryName& repository, int64_t number,
                                                           RetryBudget& patience) {
  WW_ASSIGN(const GithubResponse answer,
            transport->Get(repository, RepositoryPath(repository, fmt::format("/pulls/{}", number)), patience));
  if (answer.status != 200)
    return Fail(transport->Refusal(answer, fmt::format("read pull request {} of {}", number, repository.Full())));
  return DecodePullRequest(answer.body);
}

Result<std::optional<PullRequestView>> GithubClient::FindPullRequest(const RepositoryName& repository,
                                                                     const std::string& head) {
  RetryBudget patience = state_->transport->Begin();
  WW_ASSIGN(const auto all, state_->PullRequestsOf(repository, head, patience));
  if (all.empty()) return std::nullopt;
  return all.front().view;
}

Result<PullRequestView> GithubClient::ReadPullRequest(const RepositoryName& repository, int64_t number) {
  RetryBudget patience = state_->transport->Begin();
  WW_ASSIGN(GithubPullRequest found, state_->PullRequest(repository, number, patience));
  return std::move(found.view);
}

Result<PublishedPullRequest> GithubClient::PutPullRequest(const RepositoryName& repository,
                                                          const PullRequestRequest& request) {
  WW_TRY(CheckBody(request.body));
  GithubTransport& transport = *state_->transport;
  RetryBudget patience = transport.Begin();
  bool opened = false, changed = false;  // possibly by a write of this call whose response was lost
  while (true) {
    WW_ASSIGN(const auto all, state_->PullRequestsOf(repository, request.head, patience));
    const GithubPullRequest* listed = OpenOne(all, request.base);
    if (listed == nullptr) {
      const json body = {{"title", request.title},
                         {"head", request.head},
                         {"base", request.base},
                         {"body", request.body},
                         {"draft", request.draft}};
      WW_ASSIGN(const GithubWrite written,
                transport.Write(repository, "POST", RepositoryPath(repository, "/pulls"), body, patience));
      opened = opened || written.lost;
      if (written.lost) continue;
      const std::string what = fmt::format("open a pull request for {} in {}", request.head, repository.Full());
      if (written.answer.status == 201) {
        WW_ASSIGN(const GithubPullRequest made, DecodePullRequest(written.answer.body));
        WW_TRY(state_->Dress(repository, made, request, true, patience));
        return PublishedPullRequest{made.view, Operation::kCreated};
      }
      const Error refusal = transport.Refusal(written.answer, what);
      if (written.answer.status != 422 || !IsAlreadyExistsError(written.answer.body)) return Fail(refusal);
      WW_TRY(transport.WaitAfterFailure(patience, refusal));  // the list is not up to date yet
      continue;
    }
    // Its current state: a user may have ticked something since the list was made.
    WW_ASSIGN(const GithubPullRequest found, state_->PullRequest(repository, listed->view.number, patience));
    PublishedPullRequest result{found.view, opened    ? Operation::kCreated
                                            : changed ? Operation::kUpdated
                                                      : Operation::kUnchanged};
    if (found.view.state != PullRequestState::kOpen) return result;  // nothing is left to write to
    result.body_left = request.expected_body && !SameText(found.view.body, *request.expected_body) &&
                       !SameText(found.view.body, request.body);
    const json changes = Difference(found.view, request, result.body_left);
    if (!changes.empty()) {
      WW_ASSIGN(
          const GithubWrite written,
          transport.Write(repository, "PATCH", RepositoryPath(repository, fmt::format("/pulls/{}", found.view.number)),
                          changes, patience));
      changed = true;
      if (written.lost) continue;
      if (written.answer.status != 200)
        return Fail(transport.Refusal(
            written.answer, fmt::format("change pull request {} of {}", found.view.number, repository.Full())));
      WW_ASSIGN(const GithubPullRequest now, DecodePullRequest(written.answer.body));
      result.view = now.view;
      if (!opened) result.operation = Operation::kUpdated;
    }
    WW_TRY(state_->Dress(repository, found, request, false, patience));
    return result;
  }
}

Result<std::optional<std::vector<GithubIssueEvent>>> GithubClient::State::History(const RepositoryName& repository,
                                                                                  int64_t number,
                                                                                  RetryBudget& patience) {
  std::vector<GithubIssueEvent> history;
  const std::string path = RepositoryPath(repository, fmt::format("/issues/{}/events?per_page=100", number));
  const Status read =
      transport->GetPages(repository, path, kMaxPages, patience, [&](const std::string& body) -> Result<bool> {
        WW_ASSIGN(auto page, DecodeIssueEvents(body));
        history.insert(history.end(), page.begin(), page.end());
        return true;
      });
  if (read) return history;
  const ErrorCode code = read.error().code;
  if (code == ErrorCode::kEnvironment || code == ErrorCode::kUnsupported) return std::nullopt;  // 403, 404, 410
  return Fail(read.error());
}

Status GithubClient::State::Dress(const RepositoryName& repository, const GithubPullRequest& found,
                                  const PullRequestRequest& wanted, bool just_opened, RetryBudget& patience) {
  const int64_t number = found.view.number;
  const auto open_questions = [&](const std::vector<std::string>& names, const std::vector<std::string>& present,
                                  const char* kind) {
    const std::lock_guard lock(mutex);
    std::vector<std::string> missing;
    for (const std::string& name : names)
      if (!name.empty() && !Has(present, name) && !Has(missing, name) &&
          !refused.contains(fmt::format("{}#{} {} {}", repository.Full(), number, kind, name)))
        missing.push_back(name);
    return missing;
  };
  std::vector<std::string> labels = open_questions(wanted.labels, found.labels, "label");
  std::vector<std::string> reviewers = open_questions(wanted.reviewers, found.reviewers, "reviewer");
  if (labels.empty() && reviewers.empty()) return {};
  if (!just_opened) {  // users may have removed a label, and a review is not requested twice from the same reviewer
    WW_ASSIGN(const auto history, History(repository, number, patience));
    if (!history) return {};
    std::erase_if(labels, [&](const std::string& label) { return Happened(*history, "unlabeled", label); });
    std::erase_if(reviewers,
                  [&](const std::string& reviewer) { return Happened(*history, "review_requested", reviewer); });
  }
  if (!labels.empty()) WW_TRY(AddLabels(repository, number, labels, patience));
  if (!reviewers.empty()) WW_TRY(AskReviewers(repository, number, reviewers, patience));
  return {};
}

Status GithubClient::State::AddLabels(const RepositoryName& repository, int64_t number,
                                      const std::vector<std::string>& labels, RetryBudget& patience) {
  const std::string path = RepositoryPath(repository, fmt::format("/issues/{}/labels", number));
  for (int refusals = 0;;) {  // adding a label is idempotent
    WW_ASSIGN(const GithubWrite written,
              transport->Write(repository, "POST", path, json{{"labels", labels}}, patience));
    if (written.lost) continue;
    if (written.answer.status == 200) return {};
    const Error refusal =
        transport->Refusal(written.answer, fmt::format("label pull request {} of {}", number, repository.Full()));
    if (written.answer.status == 422 && ++refusals < kMaxRefusals) {
      WW_TRY(transport->WaitAfterFailure(patience, refusal));
      continue;
    }
    Say(refusal.Format());
    const std::lock_guard lock(mutex);
    for (const std::string& label : labels)
      refused.insert(fmt::format("{}#{} label {}", repository.Full(), number, label));
    return {};
  }
}

Status GithubClient::State::AskReviewers(const RepositoryName& repository, int64_t number,
                                         const std::vector<std::string>& reviewers, RetryBudget& patience) {
  json users = json::array(), teams = json::array();
  for (const std::string& reviewer : reviewers) {
    if (reviewer.starts_with("team:")) teams.push_back(reviewer.substr(5));
    else users.push_back(reviewer);
  }
  const std::string path = RepositoryPath(repository, fmt::format("/pulls/{}/requested_reviewers", number));
  for (int refusals = 0;;) {
    WW_ASSIGN(
        const GithubWrite written,
        transport->Write(repository, "POST", path, json{{"reviewers", users}, {"team_reviewers", teams}}, patience));
    if (written.lost) {  // a reviewer who reviewed within that second is requested again; nothing worse
      WW_ASSIGN(const GithubPullRequest now, PullRequest(repository, number, patience));
      if (std::all_of(reviewers.begin(), reviewers.end(),
                      [&](const std::string& reviewer) { return Has(now.reviewers, reviewer); }))
        return {};
      continue;
    }
    if (written.answer.status == 201) return {};
    if (written.answer.status == 422 && reviewers.size() > 1) {  // one refused reviewer must not cost the others
      for (const std::string& reviewer : reviewers) WW_TRY(AskReviewers(repository, number, {reviewer}, patience));
      return {};
    }
    const Error refusal = transport->Refusal(
        written.answer,
        fmt::format("ask {} to review pull request {} of {}", fmt::join(reviewers, ", "), number, repository.Full()));
    if (written.answer.status == 422 && ++refusals < kMaxRefusals) {
      WW_TRY(transport->WaitAfterFailure(patience, refusal));
      continue;
    }
    Say(refusal.Format());
    const std::lock_guard lock(mutex);
    for (const std::string& reviewer : reviewers)
      refused.insert(fmt::format("{}#{} reviewer {}", repository.Full(), number, reviewer));
    return {};
  }
}

}  // namespace warpwright::forge
