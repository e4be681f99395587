// Moments of errors over whole outputs, for compare.h. Private to judge/.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/typed_values.h"
#include "judge/compare.h"

namespace warpwright::judge {

// Elements that a loop looks at together: so many doubles of a few kinds stay in the first cache.
inline constexpr size_t kBlock = 256;
using Block = std::array<double, kBlock>;
static_assert(base::kParallelChunk % kBlock == 0);

// body(first, count) for each block of [begin, end).
template <typename Body>
void ForEachBlock(size_t begin, size_t end, Body body) {
  for (size_t first = begin; first < end; first += kBlock) body(first, std::min(kBlock, end - first));
}

// Sums of squares and of signed errors, with the largest magnitude factored out if squares would overflow.
class Moments {
 public:
  void Add(double x) {
    ++count_;
    sum_ += x;
    squares_ += (x * 0x1.0p-300) * (x * 0x1.0p-300);
    plain_squares_ += x * x;
  }
  void Merge(const Moments& other) {
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    plain_squares_ += other.plain_squares_;
  }
  double Rms() const {
    if (count_ == 0) return 0;
    const double n = static_cast<double>(count_);
    return std::isfinite(plain_squares_) ? std::sqrt(plain_squares_ / n) : std::sqrt(squares_ / n) * 0x1.0p300;
  }
  double Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double StandardError() const {
    if (count_ < 2) return 0;
    const double n = static_cast<double>(count_), mean = sum_ / n;
    return std::sqrt(std::max(0.0, plain_squares_ / n - mean * mean) / n);
  }
  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
  double sum_ = 0, squares_ = 0, plain_squares_ = 0;
};

// Of one output, or of a part of it.
struct Totals {
  Moments truth, errors, shrinkage, conditioning;
  Moments roundings;  // what rounding to a 16-bit output usually comes to
  void Add(double t, double error) {
    truth.Add(t);
    errors.Add(error);
    shrinkage.Add(std::copysign(1.0, t) * error);
  }
  void Merge(const Totals& other) {
    truth.Merge(other.truth);
    errors.Merge(other.errors);
    shrinkage.Merge(other.shrinkage);
    conditioning.Merge(other.conditioning);
    roundings.Merge(other.roundings);
  }
};

// Shares of errors in the bound.
struct Shares {
  Moments shares, shrinkage;
  double largest = 0;
  void Add(double share, double truth) {
    shares.Add(share);
    shrinkage.Add(std::copysign(1.0, truth) * share);
    largest = std::max(largest, std::fabs(share));
  }
  void Merge(const Shares& other) {
    shares.Merge(other.shares);
    shrinkage.Merge(other.shrinkage);
    largest = std::max(largest, other.largest);
  }
  ErrorShares Summary() const { return {shares.Rms(), largest, std::fabs(shares.Mean()), std::fabs(shrinkage.Mean())}; }
};
Shares SharesOf(const OutputLayout& layout, const OutputReference& reference, std::span<const std::byte> actual);

// Of the original itself.
struct OriginalShares {
  Shares shares;
  Moments units, ulps;  // the least that any output is allowed over the whole, in units of the bound; of f32 alone
  size_t bounded = 0;   // elements of which the bound is known
  void Merge(const OriginalShares& other) {
    shares.Merge(other.shares);
    units.Merge(other.units);
    ulps.Merge(other.ulps);
    bounded += other.bounded;
  }
};
OriginalShares OriginalSharesOf(const OutputLayout& layout, const OutputReference& reference);

// The output is narrower than the sums: its last rounding is not informative about the computation.
inline bool Narrows(const OutputLayout& layout, const OutputReference& reference) {
  return core::MachineEpsilon(layout.dtype) > core::MachineEpsilon(reference.accumulation);
}
inline bool IsSpared(const OutputReference& reference, size_t index) {
  return !reference.unwritten.empty() && reference.unwritten[index];
}
// B', which may not be known yet.
inline double SingleOf(const OutputReference& reference, size_t index) {
  return reference.single.empty() ? 0 : reference.single[index];
}

}  // namespace warpwright::judge
