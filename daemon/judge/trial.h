// A trial: one setting in which original and candidate run side by side. Which trials there are, and how odd shapes are
// made, stands here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/kernel_spec.h"
#include "judge/inputs.h"

namespace warpwright::judge {

struct Trial {
  core::Check check = core::Check::kComparison;  // that a failure is reported as
  core::Case c;
  InputVariant variant = InputVariant::kBase;
  uint64_t seed = 1;
  bool offset_pointers = false;  // every buffer at the least alignment that the manifest promises
  bool bare = false;             // the original's output alone is wanted: no truth, no conditioning

  std::string Describe() const;  // "N=37,C=130", "N=37,C=130, inputs needle"
  std::string Key() const;       // equal trials have equal keys
};

enum class VerificationLevel { kQuick, kFull };

// The trials of one case beyond its own inputs: secret seeds of the base distribution, then the other distributions.
// Seeds are derived from `secret`.
std::vector<Trial> PlanTrials(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                              VerificationLevel effort);

// The case with other sizes, consistently: every integer scalar that stands in a buffer's shape becomes n-1; n+1; a
// prime; 1, one scalar at a time; 17 (less than a warp); and in a full evaluation two that nobody can know before,
// drawn from `secret` below n. Other scalars keep their values. The original may refuse or fault there; then the shape
// is not used.
std::vector<core::Case> OddShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                  VerificationLevel effort);

// The case with every floating-point scalar at three quarters of its value (zeros stay): one that is the same in all
// cases may be written down in the candidate. Nothing where there is none.
std::optional<core::Case> OtherScalars(const core::KernelSpec& spec, const core::Case& c);

// A case that is too large to be run whole, with one scalar at a time reduced to about `share` of the case's work: all
// other lengths, which a kernel may have been tuned for, stay what they are.
std::vector<core::Case> ReducedShapes(const core::KernelSpec& spec, const core::Case& c, double share);

}  // namespace warpwright::judge
