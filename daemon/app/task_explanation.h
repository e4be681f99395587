// show: a task of the trajectory, explained with what the repository still has of its kernel.
#pragma once

#include <string>

#include "app/workspace.h"
#include "report/explanation.h"

namespace warpwright::app {

// What language models were asked for a task, for reports.
report::ModelUse ModelUseOf(const memory::TrajectoryView& view);

// File and entry from the manifest, if it still lists the kernel. `version`: of this build.
report::Explanation ExplainTask(const Workspace& workspace, const memory::TrajectoryView& view,
                                const ToolchainSource& toolchain, const std::string& version);
// As on a forge: a pull request's body, or a check's if there was no improvement.
std::string ProposedText(const repo::Repository& repository, const report::Explanation& explanation);

}  // namespace warpwright::app
