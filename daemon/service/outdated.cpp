#include "service/outdated.h"

#include <fmt/format.h>

#include "report/pull_request_status.h"

namespace warpwright::service {

Status MarkPullRequestOutdated(forge::Forge& forge, const forge::RepositoryName& repository,
                               forge::PullRequestView view, const std::string& why) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    forge::PullRequestRequest request;
    request.head = view.head;
    request.base = view.base;
    request.title = report::OutdatedTitle(view.title);
    request.body = report::MarkOutdated(view.body, why);
    request.draft = view.draft;
    request.expected_body = view.body;
    WW_ASSIGN(const auto put, forge.PutPullRequest(repository, request));
    if (!put.body_left) return {};
    view = put.view;  // a tick since it was read
  }
  return Fail(ErrorCode::kIo, "the pull request's body is being edited by someone else");
}

std::string ForeignCommitReason(const std::string& branch, const std::string& commit) {
  return fmt::format(
      "{} holds commit {}, which warpwright did not write; warpwright leaves the branch alone until somebody deletes "
      "it",
      branch, commit.substr(0, 12));
}

}  // namespace warpwright::service
