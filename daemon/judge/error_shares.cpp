#include "judge/error_shares.h"

#include <limits>
#include <optional>

#include "base/parallel.h"

namespace warpwright::judge {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kEpsilonF32 = 0x1.0p-23;

// Of a unit of a narrower output: what its last rounding may do, and so little more that one element in 64 is another.
constexpr double kLastRounding = 0.5 + 1.0 / 64;

// Of a block of values; what the last rounding to `narrowed` may do is taken off.
void AddShares(const OutputReference& reference, std::optional<core::DType> narrowed, size_t first,
               std::span<const double> values, Shares& part) {
  const size_t count = values.size();
  const double *truth = reference.truth.data() + first, *bound = reference.bound.data() + first;
  Block shares;
  if (narrowed) {
    const UnitsOf units(*narrowed);
    for (size_t k = 0; k < count; ++k) {
      const double error = values[k] - truth[k], rounding = kLastRounding * units.At(truth[k]);
      shares[k] = std::copysign(std::max(0.0, std::fabs(error) - rounding), error) / bound[k];
    }
  } else {
    for (size_t k = 0; k < count; ++k) shares[k] = (values[k] - truth[k]) / bound[k];
  }
  for (size_t k = 0; k < count; ++k) {
    if (!(bound[k] > 0 && bound[k] <= kLargest && std::fabs(truth[k]) <= kLargest && std::fabs(values[k]) <= kLargest))
      continue;
    if (!IsSpared(reference, first + k)) part.Add(shares[k], truth[k]);
  }
}

// Sum of add(first, count, part) over the blocks of an output.
template <typename Part, typename Add>
Part SumOfBlocks(size_t elements, const Add& add) {
  return base::ParallelSum<Part>(elements, base::kParallelChunk, [&](size_t begin, size_t end, Part& part) {
    ForEachBlock(begin, end, [&](size_t first, size_t count) { add(first, count, part); });
  });
}

std::optional<core::DType> Narrowed(const OutputLayout& layout, const OutputReference& reference) {
  return Narrows(layout, reference) ? std::optional(layout.dtype) : std::nullopt;
}

}  // namespace

Shares SharesOf(const OutputLayout& layout, const OutputReference& reference, std::span<const std::byte> actual) {
  const auto narrowed = Narrowed(layout, reference);
  return SumOfBlocks<Shares>(reference.bound.size(), [&](size_t first, size_t count, Shares& part) {
    Block values;
    core::LoadAsDoubles(layout.dtype, actual.data(), first, std::span(values).first(count));
    AddShares(reference, narrowed, first, std::span(values).first(count), part);
  });
}

OriginalShares OriginalSharesOf(const OutputLayout& layout, const OutputReference& reference) {
  const auto narrowed = Narrowed(layout, reference);
  const double epsilon = std::min(core::MachineEpsilon(layout.dtype), kEpsilonF32);
  return SumOfBlocks<OriginalShares>(reference.bound.size(), [&](size_t first, size_t count, OriginalShares& part) {
    Block values, units;
    core::LoadAsDoubles(layout.dtype, reference.bytes.data(), first, std::span(values).first(count));
    AddShares(reference, narrowed, first, std::span(values).first(count), part.shares);
    const double *truth = reference.truth.data() + first, *bound = reference.bound.data() + first;
    for (size_t k = 0; k < count; ++k)
      units[k] = (epsilon * std::fabs(truth[k]) + SingleOf(reference, first + k)) / bound[k];
    for (size_t k = 0; k < count; ++k) {
      if (!(std::fabs(bound[k]) <= kLargest && std::fabs(truth[k]) <= kLargest && std::fabs(values[k]) <= kLargest))
        continue;
      ++part.bounded;
      if (!(bound[k] > 0)) continue;
      part.units.Add(units[k]);
      part.ulps.Add(epsilon * std::fabs(truth[k]) / bound[k]);
    }
  });
}

ErrorShares MeasureErrors(const OutputLayout& layout, const OutputReference& reference,
                          std::span<const std::byte> actual) {
  return SharesOf(layout, reference, actual).Summary();
}
ErrorShares MeasureErrors(const OutputReference& reference, std::span<const double> values) {
  return SumOfBlocks<Shares>(reference.bound.size(),
                             [&](size_t first, size_t count, Shares& part) {
                               AddShares(reference, std::nullopt, first, values.subspan(first, count), part);
                             })
      .Summary();
}

}  // namespace warpwright::judge
