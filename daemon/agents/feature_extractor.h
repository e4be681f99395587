// Feature Extractor: source, counters and, if it was lifted, the entry's formula -> Evidence. The numbers describe the
// hottest kernel of the case that costs most (weight x time); they are counted, whoever reads the source. A language
// model may say what the rules did not see in the source, and what they saw wrong (agents/model_extractor.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/chip.h"
#include "core/computation_facts.h"
#include "core/evidence.h"
#include "core/inspection.h"
#include "core/kernel_spec.h"
#include "core/verdict.h"

namespace warpwright::agents {

// What the original computes, with the places of its kernels, from which stages are told apart.
struct Form {
  core::Computation computation;
  std::string digest;  // empty: it could not be brought into a normal form
  std::vector<core::KernelInfo> kernels;
};
Form FormOf(core::Computation computation, const core::Inspection& original);

struct ExtractedFeatures {
  core::Evidence evidence;
  core::Roofline roofline;                        // of the formula, if it is known
  core::Roofline counted_roofline;                // of the buffers and the counters
  std::optional<core::ComputationFacts> formula;  // at that case; none: not lifted, or too large to count
  std::string case_name;
  std::string kernel;                  // qualified name in the source
  std::vector<std::string> hot_lines;  // "src/softmax.cu:12: 61 % of the sectors", hottest first
  std::vector<std::string> notes;      // of a language model that read the source: its account
};

// What is known of the original, whatever version is looked at. Its counters set the compute part of the roofline, with
// which later versions are compared; what it computes, they compute too.
struct KnownOriginal {
  const core::Roofline* counted_roofline = nullptr;
  const Form* form = nullptr;
};

// A line of a launch on which much is done, with its share of the launch: "61 % of the samples, 75 % of them barrier".
struct HotLine {
  std::string file;
  int line = 0;
  std::string figures;
};
std::vector<HotLine> HotLinesOf(const core::LaunchReport& launch);  // the few hottest, these first

// `inspection` is of the text that was measured.
Result<ExtractedFeatures> ExtractFeaturesOf(const core::KernelSpec& spec, const core::Chip& chip,
                                            const core::Inspection& inspection, const core::Measured& measured,
                                            const KnownOriginal& original = {});

}  // namespace warpwright::agents
