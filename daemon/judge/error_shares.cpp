#include "judge/error_shares.h"

#include <limits>
#include <optional>

#include "base/parallel.h"

namespace warpwright::judge {
namespace {

// Of the values that load(first, block) gives; what the last rounding to `narrowed` may do is taken off.
template <typename Load>
Shares SharesOfValues(const OutputReference& reference, std::optional<core::DType> narrowed, const Load& load) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const auto add = [&](size_t first, size_t count, Shares& part) {
    Block values, shares;
    load(first, std::span(values).first(count));
    const double *truth = reference.truth.data() + first, *bound = reference.bound.data() + first;
    if (narrowed)
      for (size_t k = 0; k < count; ++k) {
        const double error = values[k] - truth[k], rounding = 0.5 * UlpOf(*narrowed, truth[k]);
        shares[k] = std::copysign(std::max(0.0, std::fabs(error) - rounding), error) / bound[k];
      }
    else
      for (size_t k = 0; k < count; ++k) {
        const double error = values[k] - truth[k];
        shares[k] = std::copysign(std::fabs(error), error) / bound[k];
      }
    for (size_t k = 0; k < count; ++k) {
      if (!(bound[k] > 0 && bound[k] <= kLargest && std::fabs(truth[k]) <= kLargest &&
            std::fabs(values[k]) <= kLargest))
        continue;
      if (!IsSpared(reference, first + k)) part.Add(shares[k], truth[k]);
    }
  };
  return base::ParallelSum<Shares>(
      reference.bound.size(), base::kParallelChunk, [&](size_t begin, size_t end, Shares& part) {
        ForEachBlock(begin, end, [&](size_t first, size_t count) { add(first, count, part); });
      });
}

}  // namespace

Shares SharesOf(const OutputLayout& layout, const OutputReference& reference, std::span<const std::byte> actual) {
  return SharesOfValues(
      reference, Narrows(layout, reference) ? std::optional(layout.dtype) : std::nullopt,
      [&](size_t first, std::span<double> values) { core::LoadAsDoubles(layout.dtype, actual.data(), first, values); });
}

ErrorShares MeasureErrors(const OutputLayout& layout, const OutputReference& reference,
                          std::span<const std::byte> actual) {
  return SharesOf(layout, reference, actual).Summary();
}
ErrorShares MeasureErrors(const OutputReference& reference, std::span<const double> values) {
  return SharesOfValues(reference, std::nullopt,
                        [&](size_t first, std::span<double> block) {
                          std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), block.size(), block.begin());
                        })
      .Summary();
}

}  // namespace warpwright::judge
