// How far an element may be off, and from what.
#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/compare.h"
#include "judge/compare_constants.h"
#include "judge/error_shares.h"

namespace warpwright::judge {
namespace {

constexpr double kLeastUlps = 8;
// Of errors beyond the last rounding: what chance comes to among millions of elements.
constexpr double kKeptFactor = 8;
constexpr double kMaxUlps = 32;  // allowed for a long sum
// The original's error is that of its own summation order, and in some row it is small by cancellation: another order
// is off by about sqrt(K) roundings (an online softmax, which rescales its sum repeatedly, by 9 ulps where the original
// had 2).
double BudgetUlps(const OutputLayout& layout) {
  return IsNarrow(layout.dtype) ? 1.5 : std::clamp(std::sqrt(layout.accumulation), 8.0, kMaxUlps);
}

}  // namespace

bool Comparator::UsesTruth(size_t index) const {
  return budget_ && std::isfinite(reference_.truth[index]) &&
         std::isfinite(core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), index));
}

bool Comparator::UsesBound(size_t index) const {
  return budget_ && reference_.has_bounds() && UsesTruth(index) && std::isfinite(reference_.bound[index]);
}

double Comparator::TargetAt(size_t index) const {
  const bool truth = reference_.has_bounds() ? UsesBound(index) : UsesTruth(index);
  return truth ? reference_.truth[index] : core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), index);
}

double Comparator::AccumulatedTolerance(size_t index, Allowance allowance) const {
  const double share = allowance == Allowance::kNear ? kBoundFactor : share_;
  return std::max(share * reference_.bound[index], kBoundFactor * SingleOf(reference_, index));
}

double Comparator::BoundTolerance(size_t index, Allowance allowance) const {
  const double bound = reference_.bound[index], accumulated = AccumulatedTolerance(index, allowance);
  const double ulp = UlpOf(layout_.dtype, reference_.truth[index]);
  const double rounding = Narrows(layout_, reference_) ? ulp : 0;
  if (IsNarrow(layout_.dtype)) return accumulated + rounding;
  return bound > 0 ? std::max(accumulated + rounding, kLeastUlps * ulp) : rounding;
}

double Comparator::TableTolerance(size_t index, double around) const {
  const Group& group = groups_[index / group_size_];
  const double kept = reference_.has_bounds() && std::isinf(reference_.bound[index]) ? kKeptUnits * kept_ : 0;
  const double row = std::max(row_share_, kept) + row_factor_ * epsilon_accumulate_ * std::sqrt(layout_.accumulation);
  const double of_row = std::max({std::fabs(around), group.rms, kept > 0 ? usual_rms_ : 0});
  const double table = rtol_ * std::fabs(around) + row * of_row;
  const double ulp = UlpOf(layout_.dtype, around), sampled = sampled_share_ * group.rms;
  return std::max({table, ulp, sampled > 0 ? sampled + ulp : 0}) + group.conditioning + narrow_error_;
}

double Comparator::ToleranceAt(size_t index, Allowance allowance) const {
  if (!core::IsFloat(layout_.dtype) || reference_.exact) return 0;
  return RoundingTolerance(index, allowance) + reference_.flushed;
}

double Comparator::RoundingTolerance(size_t index, Allowance allowance) const {
  if (UsesBound(index)) return BoundTolerance(index, allowance);
  if (reference_.has_bounds()) {
    const double table = TableTolerance(index, TargetAt(index)), single = SingleOf(reference_, index);
    if (!std::isinf(reference_.bound[index])) return table;  // nothing is known of it: it is in no sample
    return std::max(table, kBoundFactor * (std::isfinite(single) ? single : unbounded_error_));
  }
  if (!UsesTruth(index)) return TableTolerance(index, TargetAt(index));
  const Group& group = groups_[index / group_size_];
  const double t = reference_.truth[index];
  const double usual = std::max(group.original_error, usual_row_error_ * group.rms);
  const double budget =
      std::max({4 * usual, BudgetUlps(layout_) * UlpOf(layout_.dtype, t),
                std::max(2 * epsilon_accumulate_, kKeptFactor * kept_error_) * group.rms, group.conditioning,
                kBeyondTheLargest * largest_share_ * std::max(group.rms, usual_rms_)});
  return allowance == Allowance::kNear ? std::max(budget, TableTolerance(index, t)) : budget;
}

// Where the original sums in 16 bits, partial sums may be too large for them, or for a bound, though the element is
// not.
bool Comparator::MayOverflowOnItsWay(size_t index) const {
  if (!budget_ || !reference_.has_bounds() || !IsNarrow(reference_.accumulation) || reference_.exact) return false;
  return std::isfinite(reference_.truth[index]) && !std::isfinite(reference_.bound[index]);
}

// Of terms that together are more than f32 holds: what rounds each of them once is a bound that shows how large they
// are. Their sum may be any infinity then, though the truth is a number.
bool Comparator::HasHugeTerms(size_t index) const {
  constexpr double kOfRounding = std::numeric_limits<float>::max() * 0x1p-24;
  if (!budget_ || !reference_.has_bounds() || reference_.exact || reference_.accumulation == core::DType::kF64)
    return false;
  return std::isfinite(reference_.truth[index]) && std::isfinite(reference_.bound[index]) &&
         reference_.bound[index] > kOfRounding;
}

// Roundings of what it is made of may do anything: a value that waits in 16 bits may become an infinity of either sign.
bool Comparator::IsBoundless(size_t index) const {
  return budget_ && reference_.has_bounds() && !reference_.exact && std::isfinite(reference_.truth[index]) &&
         std::isinf(reference_.bound[index]);
}

// Where nothing bounds roundings, what the original is off in such elements is the measure, from the truth: in this one
// it may be near by chance.
bool Comparator::IsAsNearAsTheOriginal(size_t index, double value, double original) const {
  if (!IsBoundless(index) || IsOverflown(index, original)) return false;
  const double t = reference_.truth[index];
  return std::fabs(value - t) <= kBoundFactor * boundless_share_ * TableTolerance(index, t);
}

// Something of which the original's element is made became infinite, where it waits in 16 bits or as a square of which
// a variance is made: what is left, an infinity of either sign or the zero that an activation makes of no number,
// depends on which ones did.
bool Comparator::IsOverflown(size_t index, double original) const {
  if (reference_.own_inputs || !IsBoundless(index)) return false;
  const double t = reference_.truth[index];
  return !(std::fabs(original - t) <= TableTolerance(index, t));
}

// What the form says is right there, whatever became of the original's; of huge terms, where that is no number.
bool Comparator::IsTheTruth(size_t index, double value, double original) const {
  const bool is_huge = HasHugeTerms(index) || (kept_ > 0 && IsBoundless(index));
  const bool is_lost = !std::isfinite(original) || IsOverflown(index, original);
  if (!MayOverflowOnItsWay(index) && !(is_lost && is_huge)) return false;
  const double t = reference_.truth[index];
  if (std::isinf(value))
    return std::fabs(t) > core::LargestFinite(layout_.dtype) && std::signbit(value) == std::signbit(t);
  return std::fabs(value - t) <= TableTolerance(index, t);
}

// One is a number and the other an infinity, since the last rounding of a sum made it one: so it may be wherever the
// truth is no farther from where infinities begin than it may be off.
bool Comparator::IsRoundedToInfinity(size_t index, double value, double original, Allowance allowance) const {
  if (reference_.exact || !reference_.has_bounds() || !Narrows(layout_, reference_)) return false;
  if (!budget_ || !std::isfinite(reference_.truth[index]) || !std::isfinite(reference_.bound[index])) return false;
  if (std::isnan(value) || std::isnan(original)) return false;
  const double t = reference_.truth[index], tolerance = BoundTolerance(index, allowance),
               largest = core::LargestFinite(layout_.dtype),
               infinite = largest + UlpOf(layout_.dtype, largest) / 2;  // what is rounded to infinity
  const auto may_be = [&](double x) {
    return std::isfinite(x) ? std::fabs(x - t) <= tolerance : std::copysign(1.0, x) * t + tolerance >= infinite;
  };
  return may_be(value) && may_be(original);
}

}  // namespace warpwright::judge
