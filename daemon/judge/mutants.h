// The tolerance self-test. A comparison that cannot tell a wrong result from a right one proves nothing, so before a
// case counts, wrong results are derived from its reference and must all be rejected: zeros, the mean, a constant, a
// copy of an input, the reference of another seed, a dropped tail, a 1 % error, a precision downgrade, one wrong
// element, swapped elements and rows.
//
// A mutant that equals the reference bit for bit is undetectable. For zeros, the constant and the other seed this means
// that the case tests nothing (its output is constant, or does not depend on its input); for the others the mutant is
// not one and is left out (a kernel that copies its input, values that a lower precision represents exactly).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/compare.h"

namespace warpwright::judge {

struct MutantSources {
  std::vector<std::span<const std::byte>> inputs;  // all `in` buffers of the run
  std::vector<std::string> input_names;            // parallel to `inputs`
  std::vector<core::DType> input_dtypes;
  std::span<const std::byte> other_seed;  // the original's output under another seed; empty: seeds do not matter
};
struct Mutant {
  std::string name;  // "the reference rounded to bf16"
  base::ByteVector bytes;
  bool proves_insensitive = false;  // equality with the reference means that the case tests nothing
};
std::vector<Mutant> MakeMutants(const Comparator& comparator, const MutantSources& sources,
                                const ToleranceOverrides& leniency);

struct SelfTestFailure {
  std::string mutant;
  bool insensitive = false;  // it equals the reference; otherwise: it is within the tolerance
  std::string message;       // "all zeros would pass as a correct out"
};
std::optional<SelfTestFailure> SelfTest(const Comparator& comparator, const MutantSources& sources,
                                        const ToleranceOverrides& leniency);

}  // namespace warpwright::judge
