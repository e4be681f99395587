// A trial: one setting in which original and candidate run side by side. The list of trials of a case is here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/execution.h"
#include "core/kernel_spec.h"
#include "judge/inputs.h"

namespace warpwright::judge {

// Where buffers begin: as allocators align them, or with less, as far as the manifest allows.
enum class Pointers : uint8_t {
  kAligned,
  kLeast,      // every buffer at the smallest alignment
  kTwice,      // at twice that
  kMixed,      // some at the smallest
  kSome,       // those of `unaligned` at the smallest, and no other
  kSomeTwice,  // those at twice that
};

struct Trial {
  core::Check check = core::Check::kComparison;  // that a failure is reported as
  core::Case c;
  InputVariant variant = InputVariant::kBase;
  uint64_t seed = 1;
  Pointers pointers = Pointers::kAligned;
  uint32_t unaligned = 0;              // the buffers of Pointers::kSome, a bit for each
  std::vector<double> named = {};      // of InputVariant::kNamed
  bool bare = false;                   // only the original's output is needed: no truth, no conditioning
  bool careful = false;                // the truth as well where it is usually not asked for: of special values
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
bool HasIntegerOutput(const core::KernelSpec& spec);
// Those with NaN, which PlanTrials leaves out where results are integers (nan_as_number.h).
std::vector<Trial> NanTrials(const core::Case& c, uint64_t secret);
// Those of them that find what only happens in long rows and full blocks: for a large case.
bool NeedsSize(const Trial& trial);
// Whether it is tried on all of a case that is large on a GPU, too: what another path for such sizes may get wrong.
bool NeedsProductionSize(const Trial& trial);

// Special in their bits, which a wider type treats differently.
bool HasSpecialInputs(const Trial& trial);
// An argument that is infinite means something else, of which forms, which are of finite ones, say nothing, and results
// are of another size.
bool HasInfiniteScalar(const Trial& trial);
// Whether the original's output is all that such a trial is compared with.
bool LacksTruth(const Trial& trial);

// Where buffers may lie other than all at their least alignment: a path may look at all addresses but one, or but two.
struct Placing {
  Pointers pointers = Pointers::kAligned;
  uint32_t unaligned = 0;
};
std::vector<Placing> PlacingsOf(const core::KernelSpec& spec);

// The inputs that are no ordinary numbers, as far as the manifest allows them. Among unordered values the winner of a
// comparison depends on the order of the scan: no NaN where an output is an index.
InputVariant SpecialVariant(const core::KernelSpec& spec);
// Whether callers may pass pointers that are aligned less than allocators do.
bool HasNarrowAlignment(const core::KernelSpec& spec);
// The trial's buffers where it has them.
std::vector<core::BufferContent> PlacedFor(const core::KernelSpec& spec, const Trial& trial,
                                           std::vector<core::BufferContent> buffers);
// Of a buffer argument; UINT64_MAX if that overflows.
Result<uint64_t> BufferBytes(const core::Argument& argument, const core::Case& c);
// How the first of these trials will call the entry, for whoever records its launcher ahead.
inline constexpr size_t kMostUpcoming = 2;
std::vector<core::UpcomingCall> UpcomingCalls(const core::KernelSpec& spec, std::span<const Trial> later);
// Bytes between the buffer's address and an allocator's alignment.
int64_t PointerOffset(const Trial& trial, const core::BufferArgument& buffer, size_t index);

}  // namespace warpwright::judge
