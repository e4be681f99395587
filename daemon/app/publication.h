// Publishes a result: its branch on the remote, a pull request and a check on the forge. The daemon publishes through
// the same service/publisher.h, with a store in between; here one process optimizes and publishes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/workspace.h"
#include "config/operator_file.h"
#include "repo/remote.h"
#include "report/job_summary.h"
#include "service/publisher.h"

namespace warpwright::app {

// How this run publishes, for all kernels.
struct PublicationSettings {
  config::PublishTo to = config::PublishTo::kPullRequest;
  std::optional<forge::RepositoryName> repository;  // on the forge; none: branches only
  std::string base_branch;                          // target of pull requests
  bool draft = false;                               // if given, overrides the manifest's, as do the next three
  std::optional<std::vector<std::string>> labels, reviewers;
  std::optional<int> max_open;
  bool asked_for = false;  // by a user: ignores a closed pull request
  repo::Signature author;  // of commits
};

// What is published for one kernel.
struct KernelPublication {
  std::string kernel, file, base_commit;
  std::string commit;  // on its branch; empty: no improvement
  report::Explanation explanation;
  report::Provenance provenance;
  core::PullRequestPolicy policy;  // the manifest's
  bool carried = false;            // from another base, of which only the rest of the file differs
};

// The outcome.
struct PublicationOutcome {
  std::optional<service::Disposition> disposition;  // none: nothing was tried, or it failed
  bool failed = false;
  std::string message;
  int64_t pull_request = 0;
  std::string pull_request_url, pull_request_operation;
  std::string head_sha;  // of the pull request
};

class ResultPublisher {
 public:
  // `forge` may be null, then only branches are pushed; else both outlive the publisher.
  ResultPublisher(PublicationSettings settings, repo::Mirror mirror, forge::Forge* forge,
                  forge::CommentPort* conversation)
      : settings_(std::move(settings)), mirror_(std::move(mirror)), forge_(forge), conversation_(conversation) {}
  const repo::Signature& author() const { return settings_.author; }
  // Idempotent. Errors are those of the remote and the forge.
  Result<PublicationOutcome> Publish(const KernelPublication& publication);

  // With all branches of the remote.
  Result<repo::Repository> OpenMirror() const { return repo::Repository::Open(mirror_.repository().root()); }
  // The kernel's result that was published last, if the branch is ours or its pull request was merged; else empty. The
  // mirror may lack the commit, where a branch was deleted.
  Result<std::string> LastResult(const std::string& kernel);
  // The same of an open pull request that no longer merges into `base`; else empty.
  Result<std::string> ConflictingResult(const std::string& kernel, const std::string& base);

 private:
  core::PullRequestPolicy Tightened(core::PullRequestPolicy policy) const;

  const PublicationSettings settings_;
  repo::Mirror mirror_;
  forge::Forge* const forge_;
  forge::CommentPort* const conversation_;
  int opened_ = 0;
};
// It checks the credentials, the remote, the forge and the author of warpwright's commits, which is the App's own where
// there is one and `author` is not given.
using PublisherSource = std::function<Result<std::unique_ptr<ResultPublisher>>(const repo::Signature& author)>;

// A mirror of the remote that borrows the objects of the workspace's repository, so that only objects missing there are
// fetched.
Result<repo::Mirror> OpenBorrowingMirror(const Workspace& workspace, const repo::RemoteAddress& address,
                                         const repo::Signature& author);

}  // namespace warpwright::app
