// A winner's kernels once more, as nvcc makes them of its whole file, in front of the same judge. What was judged came
// from NVRTC and a slice; a text that the two read otherwise is found here.
#pragma once

#include "core/evaluator.h"
#include "core/tool_finding.h"
#include "judge/judge.h"

namespace warpwright::app {

// A quick evaluation. `judge` is prepared. What nvcc makes of the original too counts against nobody: kNotRun then, and
// where there is no nvcc.
core::ToolFinding JudgeNvccKernels(judge::Reviewer& judge, core::Evaluator& candidates, const core::SourceRef& original,
                                   const core::SourceRef& winner);

}  // namespace warpwright::app
