// One kernel of a run of optimize: its task, judged, refined, explained, and committed to its branch.
#pragma once

#include <filesystem>
#include <string>

#include "app/optimize.h"
#include "memory/trajectory.h"
#include "skills/library.h"

namespace warpwright::app {

// What the kernels of a run have in common.
struct OptimizeRun {
  Workspace& workspace;
  const OptimizeRequest& request;
  const OptimizeServices& services;
  std::string commit = {}, toolchain = {};
  core::Manifest manifest = {};
  repo::Signature author = {};
  std::filesystem::path tree = {};  // the commit's
  skills::SkillLibrary skills = {};
};

// An Error is of this kernel alone.
Result<OptimizedKernel> OptimizeKernel(const OptimizeRun& run, const core::KernelSpec& spec,
                                       memory::Trajectory& trajectory);
// What a pull request says of the device that measured for so long.
report::Provenance ProvenanceOf(const TargetDevice& device, double seconds);
// Of a kernel for which no task was begun, or ended.
OptimizedKernel WithoutTask(const TargetDevice& device, const core::KernelSpec& spec, core::TaskOutcome outcome,
                            std::string message);

}  // namespace warpwright::app
