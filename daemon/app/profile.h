// profile: counters, times and evidence of the kernels of the working tree.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/feature_extractor.h"
#include "app/judging.h"

namespace warpwright::app {

struct ProfiledKernel {
  core::KernelSpec spec;
  core::Verdict original;                             // Measured; else why there are no measurements
  std::optional<Error> error = {};                    // warpwright failed at it; `original` means nothing
  std::optional<agents::ExtractedFeatures> features;  // if it was measured
  std::optional<core::LiftOutcome> lifted = {};  // what it computes; if it was measured, and warpwright did not fail

  const core::Measured* measured() const { return error ? nullptr : std::get_if<core::Measured>(&original); }
};

// One kernel of the working tree.
Result<ProfiledKernel> ProfileKernel(const Workspace& workspace, const core::Manifest& manifest,
                                     const core::KernelSpec& spec, const std::string& toolchain,
                                     core::Evaluator& worker);

// Every kernel of the working tree's manifest; an error at one does not end it. `each` is called with each kernel as
// soon as it is done.
Result<std::vector<ProfiledKernel>> ProfileWorkingTree(const Workspace& workspace, const JudgingServices& services,
                                                       const std::function<void(const ProfiledKernel&)>& each = {});

}  // namespace warpwright::app
