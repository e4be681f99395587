// An open pull request whose title and figures no longer hold says so. Repeatable; a tick that a user makes meanwhile
// is kept.
#pragma once

#include <string>

#include "base/result.h"
#include "forge/forge.h"

namespace warpwright::service {

Status MarkPullRequestOutdated(forge::Forge& forge, const forge::RepositoryName& repository,
                               forge::PullRequestView view, const std::string& why);

// Why a branch with somebody's commit is left alone.
std::string ForeignCommitReason(const std::string& branch, const std::string& commit);

constexpr char kNoLongerUpdated[] = "**warpwright no longer updates this pull request**";

}  // namespace warpwright::service
