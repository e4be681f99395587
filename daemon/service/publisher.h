// Publishes a result: branch, pull request, check run. Every action checks first, so that the whole may be repeated
// after a crash at any point without a second branch, pull request or check.
//   - a branch with someone else's commit is not touched;
//   - a pull request that was closed without merging means "not this", until the kernel's file changes or a user
//     requests it;
//   - an open one is updated in place;
//   - a modelled gain only opens a draft;
//   - beyond the limits the result waits; a result that is not faster only gets a neutral check;
//   - where it stops (someone's commit, a user's decision, nothing faster), an open pull request no longer shows
//   figures
//     of another version as if they held, and one comment, edited in place, says what holds from now on.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/operator_file.h"
#include "forge/forge.h"
#include "repo/remote.h"
#include "report/pull_request.h"

namespace warpwright::service {

struct PublishRequest {
  std::string external_id;                          // of the check: the same for every repetition, "warpwright-job-17"
  std::optional<forge::RepositoryName> repository;  // on the forge; none: branches only
  config::PublishTo to = config::PublishTo::kPullRequest;
  std::string kernel, file;
  std::string base_branch;     // "main"
  std::string base_commit;     // what the job worked on
  std::string branch, commit;  // "warpwright/softmax" and its commit in the mirror; empty without a gain
  report::Explanation explanation;
  report::Provenance provenance;                 // branch, base_branch and candidate_commit are filled in here
  core::PullRequestPolicy policy;                // already tightened
  int open_pull_requests = 0, opened_today = 0;  // without this kernel's own
  std::string waits_for;                         // what the check says already of a limit; empty: nothing
  bool asked_for = false;                        // by a person: then a closed pull request is ignored
  std::string ignored_because;                   // not empty: only the check is published
  std::string closed_file_hash;                  // of the kernel's file when its pull request was opened, if known
  bool proposed_before = true;                   // false: there is no pull request that could be out of date
  bool carried = false;                          // from another base, of which only the rest of the file differs
};

struct PublicationPorts {
  repo::Mirror& mirror;
  forge::Forge* forge = nullptr;               // null: then only branches
  forge::CommentPort* conversation = nullptr;  // null: no comments
};

enum class PublicationStep { kPushed, kProposed, kReported };
enum class Disposition {
  kProposed,       // a pull request contains the result
  kBranchOnly,     // pushed; a pull request was not wanted or there is no forge
  kNothing,        // no gain, or `to` is none: at most a check
  kForeignBranch,  // someone else's commit is on the branch
  kIgnored,        // rejected by users
  kWaiting,        // a limit; nothing was pushed
};
std::string_view Name(Disposition disposition);

struct Publication {
  Disposition disposition = Disposition::kNothing;
  std::string message;  // why, for display
  std::string pushed;   // commit on the remote's branch
  std::optional<forge::PublishedPullRequest> pull_request;
  int64_t closed_pull_request = 0;  // kIgnored because of this one
  int64_t merged_pull_request = 0;  // the branch's last one
  int64_t check = 0;
  bool retry_ticked = false;  // "retry" was ticked in the body that is now replaced
};

// Called after each completed action; its Error ends the publication.
using PublicationObserver = std::function<Status(PublicationStep, const Publication&)>;

// Errors are those of the remote and the forge; publishing is idempotent.
Result<Publication> Publish(const PublishRequest& request, const PublicationPorts& ports,
                            const PublicationObserver& observer = {});

// SHA-256 of a file in a commit; empty if the file does not exist.
Result<std::string> FileHash(const repo::Repository& repository, const std::string& commit, const std::string& file);

// For callers without a store: how many pull requests of warpwright's branches are open, other than `except_branch`.
Result<int> CountOpenPullRequests(const repo::Refs& remote_refs, const std::string& except_branch,
                                  const forge::RepositoryName& repository, forge::Forge& forge);

}  // namespace warpwright::service
