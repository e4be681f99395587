// Pushing into a repository of this machine. libgit2's own does not check where the branch is at the moment when it
// moves it, and refuses repositories with a working tree.
#pragma once

#include <filesystem>
#include <string>

#include "repo/connection.h"

namespace warpwright::repo {

// As Connection::Push. A branch that a working tree shows is not moved. Hooks do not run.
Result<PushOutcome> PushLocally(git_repository* from, const std::filesystem::path& to, const std::string& commit,
                                const std::string& ref, const std::string& expected);

}  // namespace warpwright::repo
