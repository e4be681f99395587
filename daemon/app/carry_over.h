// Carries a result over to a revision in which its entry means the same, although its file is another: comments were
// edited, another kernel was changed, and the branch no longer merges. The winner is spliced into the new file and
// verified there; nothing is searched.
#pragma once

#include <string>

#include "app/optimize.h"

namespace warpwright::app {

struct CarryRequest {
  std::string revision;  // the new base
  std::string commit;    // of the branch, one commit upon the old base
  std::string author;    // AuthorOf
  std::string version;   // of this build
};

// The one kernel that the workspace was opened for. Its outcome: improved, on its branch; unchanged, no longer faster;
// refused, with the reason: the entry changed, the winner does not fit, or it failed a check. `task` is that of the
// result, whose trajectory tells how it was found.
Result<OptimizedKernel> CarryOver(Workspace& workspace, const CarryRequest& request, const OptimizeServices& services);

}  // namespace warpwright::app
