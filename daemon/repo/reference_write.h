// Moving refs while others do, and after processes that were killed with a lock in their hands.
#pragma once

#include <string>

#include "repo/git_handle.h"

namespace warpwright::repo {

// Puts `ref` at `to` (an id of the repository). With `expected` only from there ("" : only where it is absent): true
// when it was moved, false when it was elsewhere. A lock of less than three seconds is waited for; an older one was
// left behind by a killed process, since nobody holds one for longer than it takes to write 41 bytes, and is removed.
Result<bool> MoveReference(git_repository* repository, const std::string& ref, const git_oid* to,
                           const std::string* expected, const char* why);
Status DeleteReference(git_repository* repository, const std::string& ref);

}  // namespace warpwright::repo
