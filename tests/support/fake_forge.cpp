#include "tests/support/fake_forge.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright {

Result<std::optional<forge::PullRequestView>> FakeForge::FindPullRequest(const forge::RepositoryName&,
                                                                         const std::string& head) {
  WW_TRY(Begin("find pull request"));
  std::optional<forge::PullRequestView> found;
  for (const auto& view : pull_requests)
    if (view.head == head) found = view;
  WW_TRY(End("find pull request"));
  return found;
}

Result<forge::PublishedPullRequest> FakeForge::PutPullRequest(const forge::RepositoryName& repository,
                                                              const forge::PullRequestRequest& request) {
  WW_TRY(Begin("put pull request"));
  forge::PublishedPullRequest published;
  for (size_t i = pull_requests.size(); i-- > 0;) {
    forge::PullRequestView& view = pull_requests[i];
    if (view.head != request.head || view.state != forge::PullRequestState::kOpen) continue;
    if (request.expected_body && *request.expected_body != view.body) {
      published.view = view;
      published.body_left = true;
      return published;
    }
    published.operation = view.title == request.title && view.body == request.body ? forge::Operation::kUnchanged
                                                                                   : forge::Operation::kUpdated;
    if (published.operation == forge::Operation::kUpdated) log.push_back("update pull request " + request.head);
    view.title = request.title;
    view.body = request.body;
    requests[i] = request;
    published.view = view;
    WW_TRY(End("put pull request"));
    return published;
  }
  forge::PullRequestView view;
  view.number = static_cast<int64_t>(pull_requests.size()) + 1;
  view.url = fmt::format("https://forge.example/{}/pull/{}", repository.Full(), view.number);
  view.title = request.title;
  view.body = request.body;
  view.draft = request.draft;
  view.head = request.head;
  view.base = request.base;
  view.author = "warpwright[bot]";
  pull_requests.push_back(view);
  requests.push_back(request);
  log.push_back("create pull request " + request.head);
  published.view = view;
  published.operation = forge::Operation::kCreated;
  WW_TRY(End("put pull request"));
  return published;
}

Result<int64_t> FakeForge::PutCheck(const forge::RepositoryName& repository, const forge::CheckRequest& request) {
  WW_TRY(Begin("put check"));
  auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) {
    return check.request.name == request.name && check.request.sha == request.sha &&
           check.request.external_id == request.external_id;
  });
  if (found == checks.end()) {
    log.push_back("create check " + request.name);
    found = checks.insert(checks.end(), Check{repository.Full(), request});
  } else {
    found->request = request;
  }
  const auto id = static_cast<int64_t>(found - checks.begin()) + 1;
  WW_TRY(End("put check"));
  return id;
}

Result<int64_t> FakeForge::PutDashboard(const forge::RepositoryName& repository,
                                        const forge::DashboardRequest& request) {
  WW_TRY(Begin("put dashboard"));
  log.push_back(dashboards.count(repository.Full()) == 0 ? "create dashboard" : "update dashboard");
  dashboards[repository.Full()] = request;
  WW_TRY(End("put dashboard"));
  return 1000;
}

Result<forge::Permission> FakeForge::PermissionOf(const forge::RepositoryName&, const std::string& login) {
  WW_TRY(Begin("permission"));
  const auto found = permissions.find(login);
  return found == permissions.end() ? forge::Permission::kRead : found->second;
}

Result<forge::PullRequestView> FakeForge::ReadPullRequest(const forge::RepositoryName&, int64_t number) {
  WW_TRY(Begin("read pull request"));
  if (number < 1 || number > static_cast<int64_t>(pull_requests.size()))
    return Fail(ErrorCode::kUnsupported, "404: there is no such pull request");
  return PullRequest(number);
}

Result<int64_t> FakeForge::PutComment(const forge::RepositoryName& repository, const forge::CommentRequest& request) {
  WW_TRY(Begin("put comment"));
  auto found = std::find_if(comments.begin(), comments.end(), [&](const Comment& c) {
    return c.request.issue == request.issue && c.request.marker == request.marker;
  });
  if (found == comments.end()) {
    log.push_back("create comment");
    found = comments.insert(comments.end(), Comment{repository.Full(), request});
  } else {
    found->request = request;
  }
  const auto id = static_cast<int64_t>(found - comments.begin()) + 1;
  WW_TRY(End("put comment"));
  return id;
}

Status FakeForge::React(const forge::RepositoryName&, int64_t comment, const std::string& reaction) {
  WW_TRY(Begin("react"));
  if (reactions.insert(fmt::format("{} {}", comment, reaction)).second) log.push_back("react " + reaction);
  return End("react");
}

forge::PullRequestView& FakeForge::PullRequest(int64_t number) {
  return pull_requests.at(static_cast<size_t>(number - 1));
}

void FakeForge::Close(int64_t number, bool merged) {
  PullRequest(number).state = merged ? forge::PullRequestState::kMerged : forge::PullRequestState::kClosed;
}

}  // namespace warpwright
