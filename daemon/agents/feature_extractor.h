// Feature Extractor: source, counters -> Evidence. The numbers describe the hottest kernel of the case that costs most
// (weight x time).
#pragma once

#include "base/result.h"
#include "core/chip.h"
#include "core/evidence.h"
#include "core/inspection.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"

namespace warpwright::agents {

struct ExtractedFeatures {
  core::Evidence evidence;
  core::Roofline roofline;
  std::string case_name;
  std::string kernel;                  // qualified name in the source
  std::vector<std::string> hot_lines;  // "src/softmax.cu:12: 61 % of the sectors", hottest first
};

// `inspection` is of the text that was measured. The counters of that kernel set the compute part of the roofline only
// for the original: later versions are compared with the original's floor (`roofline`, if given).
Result<ExtractedFeatures> ExtractFeaturesOf(const core::KernelSpec& spec, const core::Chip& chip,
                                            const core::Inspection& inspection, const core::Measured& measured,
                                            const core::Roofline* roofline = nullptr);

}  // namespace warpwright::agents
