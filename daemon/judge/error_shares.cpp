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

// Some elements of which truth and bound are kept, `first` being the place of the first one among all of these.
struct Known {
  const OutputReference& reference;
  size_t first = 0, count = 0;

  const double* truth() const { return reference.truth.stored().data() + first; }
  const double* bound() const { return reference.bound.stored().data() + first; }
  size_t Index(size_t k) const {
    return reference.bound.sampled() ? static_cast<size_t>(reference.bound.indices()[first + k]) : first + k;
  }
  void Load(core::DType dtype, std::span<const std::byte> bytes, Block& values) const {
    if (!reference.bound.sampled())
      return core::LoadAsDoubles(dtype, bytes.data(), first, std::span(values).first(count));
    for (size_t k = 0; k < count; ++k) values[k] = core::LoadAsDouble(dtype, bytes.data(), Index(k));
  }
};

// What the last rounding to `narrowed` may do is taken off.
void AddShares(const Known& known, std::optional<core::DType> narrowed, std::span<const double> values, Shares& part) {
  const size_t count = known.count;
  const double *truth = known.truth(), *bound = known.bound();
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
    if (!IsSpared(known.reference, known.Index(k))) part.Add(shares[k], truth[k]);
  }
}

// Sum of add(known, part) over blocks of all elements of which something is kept.
template <typename Part, typename Add>
Part SumOfBlocks(const OutputReference& reference, const Add& add) {
  const size_t elements = reference.bound.stored().size();
  return base::ParallelSum<Part>(elements, base::kParallelChunk, [&](size_t begin, size_t end, Part& part) {
    ForEachBlock(begin, end, [&](size_t first, size_t count) { add(Known{reference, first, count}, part); });
  });
}

std::optional<core::DType> Narrowed(const OutputLayout& layout, const OutputReference& reference) {
  return Narrows(layout, reference) ? std::optional(layout.dtype) : std::nullopt;
}

}  // namespace

Shares SharesOf(const OutputLayout& layout, const OutputReference& reference, std::span<const std::byte> actual) {
  const auto narrowed = Narrowed(layout, reference);
  return SumOfBlocks<Shares>(reference, [&](const Known& known, Shares& part) {
    Block values;
    known.Load(layout.dtype, actual, values);
    AddShares(known, narrowed, values, part);
  });
}

OriginalShares OriginalSharesOf(const OutputLayout& layout, const OutputReference& reference) {
  const auto narrowed = Narrowed(layout, reference);
  const double epsilon = std::min(core::MachineEpsilon(layout.dtype), kEpsilonF32);
  return SumOfBlocks<OriginalShares>(reference, [&](const Known& known, OriginalShares& part) {
    Block values, units;
    known.Load(layout.dtype, reference.bytes, values);
    AddShares(known, narrowed, values, part.shares);
    const double *truth = known.truth(), *bound = known.bound();
    for (size_t k = 0; k < known.count; ++k)
      units[k] = (epsilon * std::fabs(truth[k]) + SingleOf(reference, known.Index(k))) / bound[k];
    for (size_t k = 0; k < known.count; ++k) {
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
  return SumOfBlocks<Shares>(reference,
                             [&](const Known& known, Shares& part) {
                               AddShares(known, std::nullopt, values.subspan(known.first, known.count), part);
                             })
      .Summary();
}

}  // namespace warpwright::judge
