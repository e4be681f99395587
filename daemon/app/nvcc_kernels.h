// A winner once more, as nvcc builds its whole file, in front of the same judge. What was judged came from NVRTC and a
// slice; a text that the two read otherwise is found here, and so is one that the project's build would refuse.
#pragma once

#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/tool_finding.h"
#include "judge/judge.h"

namespace warpwright::app {

// "nvcc -arch=sm_90": whether it compiles the file. Where it does, "kernels as nvcc builds them": a quick evaluation of
// what the same run of nvcc made; and "launches as nvcc builds them": whether its host code gave the plans of the slice
// in all runs of that. `judge` is prepared. What is wrong with the original too counts against nobody: kNotRun then,
// and where there is no nvcc.
std::vector<core::ToolFinding> JudgeNvccBuild(judge::Reviewer& judge, core::Evaluator& candidates,
                                              const core::SourceRef& original, const core::SourceRef& winner,
                                              const std::string& architecture);

}  // namespace warpwright::app
