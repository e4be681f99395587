// A trial: one setting in which original and candidate run side by side. The list of trials and the derivation of odd
// shapes are here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/kernel_spec.h"
#include "judge/inputs.h"

namespace warpwright::judge {

// Where buffers begin: as allocators align them, or with less, as far as the manifest allows.
enum class Pointers : uint8_t {
  kAligned,
  kLeast,  // every buffer at the smallest alignment
  kTwice,  // at twice that
  kMixed,  // some at the smallest
};

struct Trial {
  core::Check check = core::Check::kComparison;  // that a failure is reported as
  core::Case c;
  InputVariant variant = InputVariant::kBase;
  uint64_t seed = 1;
  Pointers pointers = Pointers::kAligned;
  std::vector<double> named = {};      // of InputVariant::kNamed
  bool bare = false;                   // only the original's output is needed: no truth, no conditioning
  uint64_t sample_instructions = 0;    // > 0: of the candidate, by blocks; of one launch, what they write is compared
  uint64_t original_instructions = 0;  // at most, of the original's run; 0: as the device allows

  std::string Describe() const;  // "N=37,C=130", "N=37,C=130, inputs needle"
  std::string Key() const;       // equal trials have equal keys
};

enum class VerificationLevel { kQuick, kFull };

// The trials of one case beyond its own inputs: secret seeds of the base distribution, then the other distributions.
// Seeds are derived from `secret`.
std::vector<Trial> PlanTrials(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                              VerificationLevel effort, const std::vector<double>& named = {});
// Those of them that find what only happens in long rows and full blocks: for a large case.
bool NeedsSize(const Trial& trial);

// Bytes between the buffer's address and an allocator's alignment.
int64_t PointerOffset(const Trial& trial, const core::BufferArgument& buffer, size_t index);

// The case with other sizes, consistently: every integer scalar that occurs in a buffer's shape becomes n-1; n+1; a
// prime; 1, one scalar at a time; 17 (less than a warp); and in a full evaluation one of them more than 2,048 (a single
// one also more than 65,535) with the others short; multiples of 4, 8 and 16 that are none of 32, and powers of two; up
// to half as much more and less than n; and two values below n. What can be unpredictable is drawn from `secret`. Other
// scalars keep their values. One of them is also zero, with short others. The original may refuse or fault there, or
// the manifest's expressions have no meaning (a negative extent); then the shape is not used.
std::vector<core::Case> OddShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                  VerificationLevel effort);

// Shapes of more elements than a search would try: beyond 65,535 in each dimension and 2^20 in all, squares of powers
// of two, and one more than each of `sizes`, the numbers that a candidate names.
std::vector<core::Case> LongShapes(const core::KernelSpec& spec, const core::Case& c, uint64_t secret,
                                   const std::vector<int64_t>& sizes);

// All sizes beyond a thousand, with and without a remainder: of three and more sizes too much to run whole.
std::vector<core::Case> TiledShapes(const core::KernelSpec& spec, const core::Case& c);

// The case with other floating-point scalars, where it has any: a value that is the same in all cases may be hard-coded
// in the candidate, one may be computed from another, and a path may begin at a threshold. All at three quarters, at
// 2^-8, zero and one; each drawn by itself from `secret`.
std::vector<core::Case> OtherScalars(const core::KernelSpec& spec, const core::Case& c, uint64_t secret);

// A case that is too large to run whole, with one scalar at a time reduced to about `share` of the case's work: all
// other lengths, which a kernel may have been tuned for, are unchanged.
std::vector<core::Case> ReducedShapes(const core::KernelSpec& spec, const core::Case& c, double share);

}  // namespace warpwright::judge
