// A trajectory as an Explanation.
#pragma once

#include <set>
#include <string>

#include "core/chip.h"
#include "core/kernel_spec.h"
#include "memory/trajectory.h"
#include "report/explanation.h"

namespace warpwright::report {

// What the trajectory does not contain.
struct ExplainContext {
  std::string file, entry;
  core::Chip chip;
  std::string base_commit, version, toolchain;
  std::set<core::Allow> allow = {};  // the manifest's relaxations
  core::Tolerance tolerance = {};
  std::string original_text = {};  // of the file, so that hot lines can be quoted
  std::string result_text = {};
  std::string base_blob = {};  // git's id of the file at the base; empty: replaced by the content's hash
  ModelUse models = {};
};

Explanation Explain(const memory::TrajectoryView& view, const ExplainContext& context);

}  // namespace warpwright::report
