// Moving refs while other processes do, and after processes that were killed while they held a lock.
#pragma once

#include <string>

#include "repo/git_handle.h"

namespace warpwright::repo {

// Sets `ref` to `to` (an id of the repository). With `expected`, only from there ("": only if it is absent): true if it
// was moved, false if it was elsewhere. A lock younger than three seconds is waited for; an older one was left behind
// by a killed process, since no process holds one for longer than it takes to write 41 bytes, and is removed.
Result<bool> MoveReference(git_repository* repository, const std::string& ref, const git_oid* to,
                           const std::string* expected, const char* why);
Status DeleteReference(git_repository* repository, const std::string& ref);

}  // namespace warpwright::repo
