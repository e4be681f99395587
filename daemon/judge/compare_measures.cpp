// What is measured of the original's output before anything is compared with it.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/parallel.h"
#include "judge/compare.h"
#include "judge/compare_constants.h"
#include "judge/error_shares.h"

namespace warpwright::judge {
namespace {

constexpr double kConditioningCap = 1e-3;                // of the usual magnitude
constexpr double kUsualFactor = 16, kLargestFactor = 4;  // of honest shares
// Of errors beyond the last rounding: from how many elements and from which part of the last rounding's on they are
// told from it.
constexpr double kPlainlyMore = 0.1;
constexpr size_t kManyElements = 4096;

struct TableRow {
  double rtol, factor, epsilon;
};
TableRow Fallback(core::DType dtype) {
  switch (dtype) {
    case core::DType::kF64: return {1e-10, 16, 0x1.0p-52};
    case core::DType::kF32: return {2e-6, 16, kEpsilonF32};
    case core::DType::kF16: return {1e-3, 8, kEpsilonF32};
    case core::DType::kBF16: return {1e-2, 8, kEpsilonF32};
    default: return {0, 0, 0};
  }
}

}  // namespace

Comparator::Comparator(OutputLayout layout, const OutputReference& reference, const ToleranceOverrides& leniency,
                       double tighten)
    : layout_(std::move(layout)), reference_(reference) {
  count_ = reference_.bytes.size() / core::SizeOf(layout_.dtype);
  kept_ = std::max(layout_.kept, reference_.kept);
  const TableRow row = Fallback(layout_.dtype);
  rtol_ = row.rtol;
  row_factor_ = row.factor;
  epsilon_accumulate_ = row.epsilon;
  if (row.rtol > 0) {
    if (leniency.tf32) {
      rtol_ = std::max(rtol_, 1e-3);
      row_share_ = 4 * 0x1.0p-11;
    }
    if (leniency.reduced_precision) {
      rtol_ = std::max(rtol_, 1e-2);
      row_share_ = 4 * 0x1.0p-8;
    }
    if (reference_.truth.empty()) row_share_ = std::max(row_share_, kKeptUnits * kept_);
    if (leniency.relative) {
      row_factor_ *= std::max(1.0, *leniency.relative / rtol_);
      rtol_ = *leniency.relative;
    }
  }
  rtol_ /= tighten;
  row_factor_ /= tighten;
  row_share_ /= tighten;
  // With a relaxation in force the original's own error is no longer the measure.
  budget_ = core::IsFloat(layout_.dtype) && reference_.truth.size() == count_ && count_ > 0 && !leniency.Any();
  if (!core::IsFloat(layout_.dtype)) return;
  const bool bounds = budget_ && reference_.has_bounds();
  if (bounds) {
    const OriginalShares original = OriginalSharesOf(layout_, reference_);
    original_shares_ = usual_shares_ = original.shares.Summary();
    units_rms_ = original.units.Rms();
    usual_shares_.Widen(reference_.honest);
    // Factors that are kept in 16 bits are rounded by chance, and not all to the same side: honest runs show what that
    // comes to, and one more rounding of each to the same format as much again.
    if (IsNarrow(layout_.dtype)) units_rms_ = std::min(units_rms_, std::max(usual_shares_.rms, original.ulps.Rms()));
    measured_ = original.bounded < count_ || reference_.bound.sampled();
  }
  if (bounds && IsNarrow(reference_.accumulation)) MeasureNarrowSums();
  // Rows say nothing of an element whose bound is known.
  if (measured_) Measure();
  if (!bounds) return;
  if (measured_) MeasureNoise();
  share_ =
      reference_.structured
          ? kBoundFactor
          : std::min(kBoundFactor, std::max(kUsualFactor * usual_shares_.rms, kLargestFactor * usual_shares_.largest));
  if (measured_) MeasureSample();
}

// What is in no sample is rounded no less than what is, and so is the original's, from which it is told.
void Comparator::MeasureSample() {
  std::vector<double> shares;
  double of_original = 0;
  reference_.bound.ForEach([&](size_t i) {
    const Group& group = groups_[i / group_size_];
    if (!UsesBound(i) || !(group.rms > 0)) return;
    shares.push_back(AccumulatedTolerance(i, Allowance::kUsual) / group.rms);
    const double t = reference_.truth[i], rounding = Narrows(layout_, reference_) ? UlpOf(layout_.dtype, t) / 2 : 0,
                 r = core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i);
    of_original = std::max(of_original, (std::fabs(r - t) - rounding) / group.rms);
  });
  if (shares.empty()) row_share_ = std::max(row_share_, kKeptUnits * kept_);
  if (shares.empty() || shares.size() == count_) return;
  const auto middle = shares.begin() + static_cast<ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  sampled_share_ = *middle + kBeyondTheSample * of_original;
}

// Where roundings may do anything: whether they did, so that an original's values are noise, which no other order of
// its operations has. One of them may be near the truth by chance; not of the case's own inputs, for which it is used.
void Comparator::MeasureNoise() {
  if (reference_.exact || IsNarrow(reference_.accumulation)) return;
  size_t unbounded = 0, off = 0;
  reference_.bound.ForEach([&](size_t i) {
    if (!std::isinf(reference_.bound[i]) || !UsesTruth(i)) return;
    const double t = reference_.truth[i], r = core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i);
    const double tolerance = TableTolerance(i, t);
    ++unbounded;
    if (std::fabs(r - t) <= tolerance) boundless_share_ = std::max(boundless_share_, std::fabs(r - t) / tolerance);
    else ++off;
    if (!std::isfinite(SingleOf(reference_, i))) unbounded_error_ = std::max(unbounded_error_, std::fabs(r - t));
  });
  noise_ = !reference_.own_inputs && 2 * off > unbounded;
  reference_.bound.ForEach(
      [&](size_t i) { overflows_ |= IsOverflown(i, core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i)); });
}

// How far sums in 16 bits are from the truth where it is known: elsewhere they may be as far from a better sum.
void Comparator::MeasureNarrowSums() {
  constexpr double kOfSums = 2;
  reference_.bound.ForEach([&](size_t i) {
    if (UsesBound(i))
      narrow_error_ = std::max(
          narrow_error_,
          kOfSums * std::fabs(core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i) - reference_.truth[i]));
  });
}

double Comparator::OriginalRelativeError() const {
  if (!measured_) {
    Comparator measured(*this);
    measured.Measure();
    return measured.OriginalRelativeError();
  }
  return budget_ && rms_truth_ > 0 ? rms_original_error_ / rms_truth_ : 0;
}

void Comparator::Measure() {
  measured_ = true;
  const size_t row = layout_.shape.size() >= 2 ? static_cast<size_t>(std::max<int64_t>(1, layout_.shape.back()))
                                               : std::max<size_t>(count_, 1);
  group_size_ = row >= kShortRow ? row : row * ((kShortRow + row - 1) / row);
  groups_.assign(count_ / group_size_ + 1, {});
  const auto allowance = [&](const Moments& movement, double rms) {
    return std::min(std::max(4.0, 2 * std::sqrt(layout_.accumulation)) * movement.Rms(),
                    kConditioningCap * std::max(rms, reference_.typical_rms));
  };
  const auto measure = [&](size_t g, Totals& all) {
    Moments magnitude, movement;
    Group& group = groups_[g];
    const auto add = [&](size_t first, size_t count) {
      Block originals, truth;
      core::LoadAsDoubles(layout_.dtype, reference_.bytes.data(), first, std::span(originals).first(count));
      if (budget_) reference_.truth.Fill(first, std::span(truth).first(count));
      for (size_t i = first; i < first + count; ++i) {
        const double r = originals[i - first];
        if (!std::isfinite(r) || IsSpared(reference_, i)) continue;
        magnitude.Add(r);
        if (reference_.conditioning.size() == count_ && std::isfinite(reference_.conditioning[i])) {
          movement.Add(reference_.conditioning[i]);
          all.conditioning.Add(reference_.conditioning[i]);
        }
        if (!budget_ || !std::isfinite(truth[i - first])) continue;
        const double t = truth[i - first], error = r - t;
        // The last rounding of a 16-bit output dwarfs all others and is not informative about the computation: count
        // only the error beyond it.
        const double rounding = IsNarrow(layout_.dtype) ? 0.5 * UlpOf(layout_.dtype, t) : 0;
        all.roundings.Add(rounding / std::numbers::sqrt3);
        group.original_error = std::max(group.original_error, std::fabs(error) - rounding);
        all.Add(t, error);
      }
    };
    ForEachBlock(g * group_size_, std::min(count_, (g + 1) * group_size_), add);
    group.rms = magnitude.Rms();
    group.conditioning = allowance(movement, group.rms);
  };
  const size_t groups = (count_ + group_size_ - 1) / group_size_;
  const Totals all = base::ParallelSum<Totals>(groups, std::max<size_t>(1, base::kParallelChunk / group_size_),
                                               [&](size_t begin, size_t end, Totals& part) {
                                                 for (size_t g = begin; g < end; ++g) measure(g, part);
                                               });
  Moments row_errors;
  for (const Group& group : groups_)
    if (group.rms > 0) row_errors.Add(group.original_error / group.rms);
  usual_row_error_ = row_errors.Rms();
  if (kept_ > 0 && budget_ && IsNarrow(layout_.dtype)) MeasureKept();
  const double error = all.errors.Rms(), rounding = all.roundings.Rms(), beyond = error * error - rounding * rounding;
  if (IsNarrow(layout_.dtype) && all.errors.count() >= kManyElements && beyond > kPlainlyMore * rounding * rounding)
    kept_error_ = std::sqrt(beyond) / all.truth.Rms();
  rms_truth_ = all.truth.Rms();
  rms_original_error_ = all.errors.Rms();
  all_conditioning_ = allowance(all.conditioning, rms_truth_);
  bias_original_ = std::fabs(all.errors.Mean());
  shrinkage_original_ = std::fabs(all.shrinkage.Mean());
  // An output of few elements may be small by cancellation: its usual magnitude counts as well.
  if (count_ < kShortRow && reference_.own_inputs)
    for (Group& group : groups_) group.rms = std::max(group.rms, reference_.typical_rms);
}

void Comparator::MeasureKept() {
  std::vector<double> sizes;
  for (const Group& group : groups_)
    if (group.rms > 0) sizes.push_back(group.rms);
  if (sizes.empty()) return;
  const auto middle = sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  usual_rms_ = *middle;
  for (const Group& group : groups_)
    largest_share_ = std::max(largest_share_, group.original_error / std::max(group.rms, usual_rms_));
}

}  // namespace warpwright::judge
