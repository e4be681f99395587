// The inputs on which two versions of an entry are compared: as given, and in ranges where other things of a function
// show: offsets lose digits in what cancels, small numbers make addends visible, large ones overflow, and numbers next
// to a threshold decide a comparison.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/execution.h"
#include "core/kernel_spec.h"

namespace warpwright::lift {

enum class PointRange : uint8_t {
  kGiven,
  kSmall,       // normal * 1e-3
  kOffset,      // normal + 1e4, in f16 + 64
  kThresholds,  // normal, but one in two is a threshold or next to one
  kLarge,       // normal * 1e3, in f16 * 10
  kMixed,       // every buffer in another of these ranges
  kWide,        // magnitudes from 2^-10 to 2^10 of both signs, in f16 to 2^5
  kNormal
};
inline constexpr int kPointRanges = static_cast<int>(PointRange::kNormal) + 1;  // the most telling ones first

// `given`: the contents of every buffer argument of `spec`. Floating-point inputs whose distribution the manifest
// leaves open are drawn from the range, integers exchange their places; what comes from a file, is constant or is no
// input stays as it is.
std::vector<core::BufferContent> MakePoint(const core::KernelSpec& spec, const std::vector<core::BufferContent>& given,
                                           PointRange range, uint64_t seed, std::span<const double> thresholds);

}  // namespace warpwright::lift
