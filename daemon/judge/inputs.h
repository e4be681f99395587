// Inputs of a run, made from (seed, argument, element index) alone: the same bytes on every machine, in any order.
//
// A case's own distribution is given by the manifest's `init` (variant kBase). The other variants replace it for
// floating-point `in` and `inout` buffers whose init is the default, normal or uniform; buffers with another init (a
// constant, a file) keep it, since the kernel may depend on it. Integer buffers, which are often indices, have variants
// of their own: within their range, and, where the original tolerates it, beyond.
//
// Only +, -, *, / and sqrt are used to form the numbers (no libm), so that no C library version changes a recorded
// reference.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/execution.h"
#include "core/kernel_spec.h"

namespace warpwright::judge {

enum class InputVariant : uint8_t {
  kBase,           // the manifest's
  kNormal,         // normal(0, 1)
  kUniform,        // uniform(-1, 1)
  kPareto,         // heavy tail, alpha 1.5, random signs: a few elements dominate sums
  kLognormal,      // positive, spread over two decades
  kConstant,       // the same value everywhere
  kTies,           // five values, so that maxima repeat; in some lines zeros of both signs are the extreme
  kSorted,         // ascending or descending over the whole buffer
  kSignMix,        // like the base, with random signs: positive test data hide errors for negative values
  kNeedle,         // small noise and one large value in every 1024 elements: sampling misses them
  kExactIntegers,  // 0 and 1: every partial sum is exact in any order
  kScaleDown,      // normal(0, 1) * 1e-3
  kScaleUp,        // normal(0, 1) * 1e3; * 10 for f16
  kWide,           // magnitudes from 2^-30 to 2^30, in f16 2^-10 to 2^6
  kSpecialValues,  // normal with +-0, subnormals, +-infinity and NaN of both signs, sparse enough that rows without any
                   // remain
  kSpecialNumbers,  // the same without NaN
  kSpecialFinite,   // and without infinities
  kTiny,            // normal(0, 1) * 2^-60, in f16 2^-12: below every threshold that looks like zero
  kSubnormal,       // nothing else: a kernel that flushes them gives zeros
  kDominant,        // rows of nearly equal values, below one that the sum of their exponentials can still be told from
  kBufferScales,    // normal(0, 1) times a power of two for each buffer, from 2^-30 to 2^30, in f16 2^-6 to 2^6
  kZeroRuns,        // normal with runs of zeros of all lengths, and rows that are zero but for a few values
  kEqualRows,       // rows of one value each: ordinary, zero of either sign, subnormal
  kNamed,           // the base, and every eighth element one of the numbers that a candidate names, or a neighbour
  kAroundNamed,     // nothing but one such number, of either sign, and what is just beside it: what begins there begins
                    // for half of all elements, and what it leaves out adds up
  kOffset,          // one large number and a little beside it everywhere: differences of large sums cancel
  kZerosFacing,   // normal, and for each extent that several buffers have, one index at which the first of them is zero
                  // and the others have NaN and infinities: what skips zeros does not see these
  kInfiniteRows,  // of the first of the buffers that share an extent, whole rows of -infinity, half of a row, and
                  // single infinities of both signs: what fills rows up, or masks, must not take its own values for
                  // theirs
  kInfiniteColumns,  // the same with columns
  kOldValues,      // the base, and of `inout` buffers every other element NaN or infinite: what overwrites them without
                   // looking at them must not come to look
  kIntegerEqual,   // of integer buffers: one value everywhere; the largest where any number is named
  kIntegerSorted,  // the range in ascending or descending order
  kIntegerBeyond,  // the ends of the range and beyond them, powers of two of both signs, the extreme values
  kIntegerNamed,   // the base, and every eighth integer one named number: what stands for nothing, as a label to ignore
  kFarNeedle,      // the base, and a value above all others of its row behind the last power of two in it
  kLoneNan,        // the base, and one NaN in every buffer, without any infinity that a result could be told by
  kMaxFinite,  // normal with one largest finite value per buffer (more would make sums depend on their order), or 1/128
               // of it if values of several buffers may be multiplied
};
inline constexpr InputVariant kAllInputVariants[] = {
    InputVariant::kBase,           InputVariant::kNormal,        InputVariant::kUniform,
    InputVariant::kPareto,         InputVariant::kLognormal,     InputVariant::kConstant,
    InputVariant::kTies,           InputVariant::kSorted,        InputVariant::kSignMix,
    InputVariant::kNeedle,         InputVariant::kExactIntegers, InputVariant::kScaleDown,
    InputVariant::kScaleUp,        InputVariant::kWide,          InputVariant::kSpecialValues,
    InputVariant::kSpecialNumbers, InputVariant::kSpecialFinite, InputVariant::kTiny,
    InputVariant::kSubnormal,      InputVariant::kDominant,      InputVariant::kBufferScales,
    InputVariant::kZeroRuns,       InputVariant::kEqualRows,     InputVariant::kNamed,
    InputVariant::kAroundNamed,    InputVariant::kOffset,        InputVariant::kZerosFacing,
    InputVariant::kOldValues,      InputVariant::kIntegerEqual,  InputVariant::kIntegerSorted,
    InputVariant::kIntegerBeyond,  InputVariant::kIntegerNamed,  InputVariant::kFarNeedle,
    InputVariant::kLoneNan,        InputVariant::kMaxFinite,     InputVariant::kInfiniteRows,
    InputVariant::kInfiniteColumns};

std::string_view Name(InputVariant variant);  // "scale-up"

// Whether any buffer of the kernel changes with the variant / with the seed.
bool VariantApplies(const core::KernelSpec& spec);
bool IntegerVariantApplies(const core::KernelSpec& spec);
bool OldValuesApply(const core::KernelSpec& spec);
bool SeedMatters(const core::KernelSpec& spec);

// Every buffer argument in the order of the signature. `in` and `inout` are filled; `out` and `scratch` are filled with
// poison (below) and marked uninitialized. Errors are kConfig: a shape that cannot be evaluated, an init file that does
// not fit.
Result<std::vector<core::BufferContent>> MakeInputs(const core::KernelSpec& spec, const core::Case& c,
                                                    InputVariant variant, uint64_t seed,
                                                    const std::filesystem::path& repository,
                                                    std::span<const double> named = {});

// The manifest's own inputs; of a buffer of more than `tile` elements, so many, to be repeated (core::BufferContent).
Result<std::vector<core::BufferContent>> MakeRepeatedInputs(const core::KernelSpec& spec, const core::Case& c,
                                                            uint64_t seed, const std::filesystem::path& repository,
                                                            uint64_t tile);

// Random bits; the complement differs from them in every byte, so that an element that equals its poison in both runs
// was not written.
void FillPoison(std::span<std::byte> bytes, uint64_t seed, uint64_t stream, bool complement);
// Refills `out` and `scratch` buffers with the complement of the poison that MakeInputs gave them.
void ComplementPoison(const core::KernelSpec& spec, uint64_t seed, std::vector<core::BufferContent>& buffers);

// Every finite element x becomes x (1 +- epsilon), signs at random: inputs that are indistinguishable from the given
// ones at this precision. How far the original's output moves shows how well-conditioned an output element is. Dtypes
// other than f32 and f64 are left unchanged.
void PerturbInputs(const core::KernelSpec& spec, double epsilon, uint64_t seed,
                   std::vector<core::BufferContent>& buffers);

}  // namespace warpwright::judge
