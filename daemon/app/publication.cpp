#include "app/publication.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"

namespace warpwright::app {

namespace fs = std::filesystem;

core::PullRequestPolicy ResultPublisher::Tightened(core::PullRequestPolicy policy) const {
  policy.draft |= settings_.draft;
  if (settings_.labels) policy.labels = *settings_.labels;
  if (settings_.reviewers) policy.reviewers = *settings_.reviewers;
  if (settings_.max_open) policy.max_open = std::min(policy.max_open, *settings_.max_open);
  return policy;
}

Result<PublicationOutcome> ResultPublisher::Publish(const KernelPublication& publication) {
  service::PublishRequest request;
  request.external_id = fmt::format("warpwright-{}-{}", publication.kernel, publication.base_commit.substr(0, 12));
  request.repository = settings_.repository;
  request.to = settings_.to;
  request.kernel = publication.kernel;
  request.file = publication.file;
  request.base_branch = settings_.base_branch;
  request.base_commit = publication.base_commit;
  request.branch = "warpwright/" + publication.kernel;
  request.commit = publication.commit;
  request.explanation = publication.explanation;
  request.provenance = publication.provenance;
  request.policy = Tightened(publication.policy);
  request.asked_for = settings_.asked_for;
  request.carried = publication.carried;
  request.opened_today = opened_;
  if (forge_ != nullptr && !publication.commit.empty()) {
    WW_ASSIGN(const repo::Refs refs, mirror_.Known());
    WW_ASSIGN(request.open_pull_requests,
              service::CountOpenPullRequests(refs, request.branch, *settings_.repository, *forge_));
  }
  forge::Forge* const forge = settings_.to == config::PublishTo::kPullRequest ? forge_ : nullptr;
  WW_ASSIGN(const service::Publication done, ::warpwright::service::Publish(request, {mirror_, forge, conversation_}));

  PublicationOutcome outcome;
  outcome.disposition = done.disposition;
  outcome.message = done.message;
  if (!done.pull_request) return outcome;
  const forge::PublishedPullRequest& opened = *done.pull_request;
  outcome.pull_request = opened.view.number;
  outcome.pull_request_url = opened.view.url;
  outcome.pull_request_operation = forge::Name(opened.operation);
  outcome.head_sha = done.pushed;
  if (opened.operation == forge::Operation::kCreated) ++opened_;
  return outcome;
}

Result<std::string> ResultPublisher::LastResult(const std::string& kernel) {
  const std::string branch = "warpwright/" + kernel;
  WW_ASSIGN(const repo::Mirror::Tip tip, mirror_.RemoteTip(branch));
  if (tip.owner == repo::Mirror::Owner::kOurs) return tip.commit;
  if (tip.owner == repo::Mirror::Owner::kForeign || forge_ == nullptr) return std::string();
  WW_ASSIGN(const auto view, forge_->FindPullRequest(*settings_.repository, branch));
  if (!view || view->state != forge::PullRequestState::kMerged) return std::string();
  const auto body = report::ParseBody(view->body);
  return body ? body->candidate : std::string();
}

Result<std::string> ResultPublisher::ConflictingResult(const std::string& kernel, const std::string& base) {
  const std::string branch = "warpwright/" + kernel;
  if (forge_ == nullptr || settings_.to != config::PublishTo::kPullRequest) return std::string();
  WW_ASSIGN(const repo::Mirror::Tip tip, mirror_.RemoteTip(branch));
  if (tip.owner != repo::Mirror::Owner::kOurs) return std::string();
  WW_ASSIGN(const auto view, forge_->FindPullRequest(*settings_.repository, branch));
  if (!view || view->state != forge::PullRequestState::kOpen) return std::string();
  WW_ASSIGN(const bool clean, mirror_.repository().MergesCleanly(base, tip.commit));
  return clean ? std::string() : tip.commit;
}

Result<repo::Mirror> OpenBorrowingMirror(const Workspace& workspace, const repo::RemoteAddress& address,
                                         const repo::Signature& author) {
  if (workspace.repository().shallow())
    return Fail(ErrorCode::kEnvironment, "this clone is shallow, and commits that are based on it cannot be pushed",
                "check out with fetch-depth: 0");
  const fs::path path = workspace.state() / "mirror.git";
  WW_TRY(repo::Mirror::Open(path, address, author));
  const fs::path objects = fs::absolute(workspace.repository().common_directory() / "objects");
  WW_TRY(base::WriteFileAtomically(path / "objects/info/alternates", objects.string() + "\n"));
  WW_ASSIGN(repo::Mirror mirror, repo::Mirror::Open(path, address, author));
  WW_TRY(mirror.Fetch());
  return mirror;
}

}  // namespace warpwright::app
