// The host half of a whole file, as nvcc makes it, against the launch recorder: what a launcher does in the project's
// own build, compared with the plan that its slice gave. The program is as untrusted as a slice's and runs in the same
// sandbox; nothing of the CUDA runtime is in it but shim/host/record_nvcc.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/compiled.h"
#include "core/launch_plan.h"
#include "source/record.h"
#include "source/slice.h"

namespace warpwright::source {

struct WholeHost {
  std::map<std::string, std::string> files;  // that nvcc kept, by name
  std::string main;                          // the one that is compiled
  std::vector<std::filesystem::path> include_folders;
  core::CompiledModule kernels;  // under nvcc's symbols
};

struct SameLaunches {};
struct OtherLaunches {
  std::string what;  // "launch 1 has a grid of 4 x 1 x 1, not of 8 x 1 x 1"
};
// Why it is not known: the file calls parts of the runtime that the recorder lacks, or does not link by itself.
struct NotCompared {
  std::string why;
};
using LaunchComparison = std::variant<SameLaunches, OtherLaunches, NotCompared>;
// `plan`: of the same request, by RecordPlan.
Result<LaunchComparison> CompareLaunches(const Slices& slices, const RecordRequest& request, const WholeHost& whole,
                                         const core::LaunchPlan& plan);

// Where two plans first differ; empty: nowhere. Names and lines of files do not count.
std::string FirstDifference(const core::LaunchPlan& built, const core::LaunchPlan& plan);

}  // namespace warpwright::source
