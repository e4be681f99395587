// Pushing into a repository on this machine. libgit2's own push does not check where the branch is at the moment when
// it moves it, and refuses repositories with a working tree.
#pragma once

#include <filesystem>
#include <string>

#include "repo/connection.h"

namespace warpwright::repo {

// Like Connection::Push. A branch that a working tree has checked out is not moved. Hooks do not run.
Result<PushOutcome> PushLocally(git_repository* from, const std::filesystem::path& to, const std::string& commit,
                                const std::string& ref, const std::string& expected);

}  // namespace warpwright::repo
