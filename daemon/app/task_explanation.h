// show: a task of the trajectory, explained with what the repository still knows of its kernel.
#pragma once

#include <string>

#include "app/workspace.h"
#include "report/explanation.h"

namespace warpwright::app {

// File and entry from the manifest where the kernel still stands there. `version`: of this build.
report::Explanation ExplainTask(const Workspace& workspace, const memory::TrajectoryView& view,
                                const ToolchainSource& toolchain, const std::string& version);
// As it would be proposed on a forge: a pull request's body, or where nothing was gained a check's.
std::string ProposedText(const repo::Repository& repository, const report::Explanation& explanation);

}  // namespace warpwright::app
