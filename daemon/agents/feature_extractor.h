// Feature Extractor: source, counters -> Evidence. The numbers speak of the hottest kernel of the case that costs most (weight x time).
#pragma once

#include "base/result.h"
#include "core/chip.h"
#include "core/evidence.h"
#include "core/inspection.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"

namespace warpwright {

struct ExtractedFeatures {
  Evidence evidence;
  Roofline roofline;
  std::string case_name;
  std::string kernel;                   // qualified name in the source
  std::vector<std::string> hot_lines;   // "src/softmax.cu:12: 61 % of the sectors", hottest first
};

// `inspection` is of the text that was measured. Counters of that kernel set the compute part of the roofline only for the
// original: later versions are held against the floor of the first (`roofline`, where given).
Result<ExtractedFeatures> ExtractFeaturesOf(const KernelSpec& spec, const Chip& chip, const Inspection& inspection,
                                            const Measured& measured, const Roofline* roofline = nullptr);

}  // namespace warpwright
