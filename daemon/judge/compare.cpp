#include "judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <numbers>
#include <set>
#include <utility>

#include "base/parallel.h"
#include "judge/error_shares.h"
#include "judge/mismatch_pattern.h"

namespace warpwright::judge {
namespace {

constexpr size_t kShortRow = 64;           // rows below this are grouped
constexpr double kConditioningCap = 1e-3;  // of the usual magnitude
constexpr double kEpsilonF32 = 0x1.0p-23;
constexpr double kBoundFactor = 4;                       // k
constexpr double kUsualFactor = 16, kLargestFactor = 4;  // of honest shares
constexpr double kLeastUlps = 8;
// Of errors beyond the last rounding: what chance comes to among millions of elements, and from how many elements and
// from which part of the last rounding's on they are told from it.
constexpr double kKeptFactor = 8, kPlainlyMore = 0.1;
constexpr size_t kManyElements = 4096;
// The largest error of millions of elements beside that of a sample, if roundings are independent.
constexpr double kBeyondTheSample = 1.5, kBeyondTheLargest = 1.5;
// Without a truth: a sum averages the roundings of its terms, which makes a third of a unit of its usual magnitude.
constexpr double kKeptUnits = 4;
constexpr double kSafely = 1 - 1e-9;  // what is worked out in another order may come out that much larger

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

bool IsNarrow(core::DType dtype) { return dtype == core::DType::kF16 || dtype == core::DType::kBF16; }
constexpr double kMaxUlps = 32;  // allowed for a long sum
// The original's error is that of its own summation order, and in some row it is small by cancellation: another order
// is off by about sqrt(K) roundings (an online softmax, which rescales its sum repeatedly, by 9 ulps where the original
// had 2).
double BudgetUlps(const OutputLayout& layout) {
  return IsNarrow(layout.dtype) ? 1.5 : std::clamp(std::sqrt(layout.accumulation), 8.0, kMaxUlps);
}

std::string Describe(core::DType dtype, const std::byte* data, size_t index) {
  if (!core::IsFloat(dtype)) return fmt::format("{}", core::LoadAsInteger(dtype, data, index));
  return fmt::format("{:.9g}", core::LoadAsDouble(dtype, data, index));
}

}  // namespace

std::string_view Name(TruthSource source) {
  switch (source) {
    case TruthSource::kNone: return "none";
    case TruthSource::kShadow: return "float64 shadow";
    case TruthSource::kForm: return "float64 from the form";
  }
  return {};
}

void ErrorShares::Widen(const ErrorShares& other) {
  rms = std::max(rms, other.rms);
  largest = std::max(largest, other.largest);
  bias = std::max(bias, other.bias);
  shrinkage = std::max(shrinkage, other.shrinkage);
}

void OutputReference::ForgetTruth() {
  truth.clear();
  bound.clear();
  single.clear();
  source = TruthSource::kNone;
}

ToleranceOverrides ToleranceOverridesOf(const core::KernelSpec& spec) {
  return {spec.tolerance.relative, spec.allow.contains(core::Allow::kTf32),
          spec.allow.contains(core::Allow::kReducedPrecision)};
}

std::string ElementName(const OutputLayout& layout, size_t index) {
  std::vector<size_t> at(layout.shape.size());
  for (size_t d = at.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(std::max<int64_t>(1, layout.shape[d]));
    at[d] = index % extent;
    index /= extent;
  }
  return fmt::format("{}[{}]", layout.name, fmt::join(at, ", "));
}

double UlpOf(core::DType dtype, double value) { return UnitsOf(dtype).At(value); }

double EstimateAccumulation(const core::KernelSpec& spec, const core::Case& c, const core::Argument& output) {
  const auto variables = core::IntegerScalars(c);
  if (spec.accumulation)
    if (const auto length = spec.accumulation->Evaluate(variables))
      return std::max<double>(1, static_cast<double>(*length));
  std::set<std::string> kept;
  const auto& shape = std::get<core::BufferArgument>(output.kind).shape;
  for (const core::Expression& extent : shape) kept.insert(extent.text());
  std::map<std::string, double> summed;  // by expression, so that [M, K] x [K, N] counts K once
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role == core::Role::kOut || buffer->role == core::Role::kScratch) continue;
    for (const core::Expression& extent : buffer->shape)
      if (const auto value = extent.Evaluate(variables); value && !kept.contains(extent.text()))
        summed[extent.text()] = static_cast<double>(*value);
  }
  double product = 1;
  for (const auto& [text, value] : summed) product *= std::max(1.0, value);
  if (product > 1) return product;
  if (shape.size() < 2) return 1;
  const auto last = shape.back().Evaluate(variables);
  return last ? std::max<double>(1, static_cast<double>(*last)) : 1;
}

double KeptRounding(const core::KernelSpec& spec) {
  double largest = 0;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer != nullptr && buffer->role == core::Role::kScratch && IsNarrow(buffer->dtype))
      largest = std::max(largest, core::MachineEpsilon(buffer->dtype) / 2);
  }
  return largest;
}

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

struct Comparator::Whole {
  Shares shares;  // with bounds
  Totals totals;  // with another truth
  bool near = false;
  Allowance allowance() const { return near ? Allowance::kNear : Allowance::kUsual; }
};

// How far the original is from the truth over the whole output, and this one.
Comparator::Whole Comparator::MeasureWhole(std::span<const std::byte> actual) const {
  Whole whole;
  if (!budget_ || reference_.exact) return whole;
  if (reference_.has_bounds()) {
    whole.shares = SharesOf(layout_, reference_, actual);
    whole.near = whole.shares.shares.Rms() <= original_shares_.rms;
    return whole;
  }
  const auto add = [&](size_t first, size_t count, Totals& part) {
    Block values, originals, truth;
    core::LoadAsDoubles(layout_.dtype, actual.data(), first, std::span(values).first(count));
    core::LoadAsDoubles(layout_.dtype, reference_.bytes.data(), first, std::span(originals).first(count));
    reference_.truth.Fill(first, std::span(truth).first(count));
    for (size_t k = 0; k < count; ++k) {
      const double t = truth[k];
      if (std::isfinite(t) && std::isfinite(originals[k]) && !IsSpared(reference_, first + k))
        part.Add(t, values[k] - t);
    }
  };
  whole.totals = base::ParallelSum<Totals>(count_, base::kParallelChunk, [&](size_t begin, size_t end, Totals& part) {
    ForEachBlock(begin, end, [&](size_t first, size_t count) { add(first, count, part); });
  });
  whole.near = whole.totals.errors.Rms() <= rms_original_error_;
  return whole;
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

Comparator::Fault Comparator::FaultOf(size_t index, const std::byte* actual, Allowance allowance) const {
  const core::DType dtype = layout_.dtype;
  const std::byte* expected = reference_.bytes.data();
  const size_t size = core::SizeOf(dtype);
  if (core::IsSameElement(actual, expected, index, size)) return Fault::kNone;
  if (IsSpared(reference_, index)) return Fault::kWritten;
  if (!core::IsFloat(dtype)) return Fault::kDiffers;
  const double a = core::LoadAsDouble(dtype, actual, index), r = core::LoadAsDouble(dtype, expected, index);
  if (std::isnan(a) && std::isnan(r)) return Fault::kNone;
  if (IsTheTruth(index, a, r)) return Fault::kNone;
  if ((std::isinf(a) || a == 0) && (IsOverflown(index, r) || (overflows_ && IsBoundless(index)))) return Fault::kNone;
  // Which partial sum is the first to be too large, and of which sign, is a matter of order.
  if (std::isinf(a) && std::isinf(r) && (MayOverflowOnItsWay(index) || HasHugeTerms(index) || IsBoundless(index)))
    return Fault::kNone;
  if (!std::isfinite(a) || !std::isfinite(r))
    return a == r || IsRoundedToInfinity(index, a, r, allowance) ? Fault::kNone : Fault::kDiffers;
  if (a == r) return Fault::kNone;  // zeros of both signs
  if (reference_.exact) return Fault::kInexact;
  if (noise_ && std::isinf(reference_.bound[index])) return Fault::kNone;
  if (IsAsNearAsTheOriginal(index, a, r)) return Fault::kNone;
  return std::fabs(a - TargetAt(index)) <= ToleranceAt(index, allowance) ? Fault::kNone : Fault::kOff;
}

std::string Comparator::Explain(Fault fault, size_t index, const std::byte* actual, Allowance allowance) const {
  const core::DType dtype = layout_.dtype;
  const std::byte* expected = reference_.bytes.data();
  if (fault == Fault::kWritten)
    return fmt::format("is written ({}), which the original leaves alone", Describe(dtype, actual, index));
  std::string text =
      fmt::format("is {}, expected {}", Describe(dtype, actual, index), Describe(dtype, expected, index));
  if (fault == Fault::kInexact) text += " exactly: its inputs make every sum exact";
  if (fault != Fault::kOff) return text;
  const double a = core::LoadAsDouble(dtype, actual, index), r = core::LoadAsDouble(dtype, expected, index),
               target = TargetAt(index);
  // What it is measured against, where that is not what the original gives.
  const std::string from = target == r ? "" : fmt::format(" from {:.9g} in float64", target);
  return text +
         fmt::format(" (off by {:.3g}{}, allowed {:.3g})", std::fabs(a - target), from, ToleranceAt(index, allowance));
}

// Nearly all elements of nearly all outputs are far within their tolerances, which are dear to work out: what is within
// a part of its tolerance that is cheap needs no closer look.
template <typename Visit>
void Comparator::ForEachSuspect(size_t begin, size_t end, const std::byte* actual, Visit visit) const {
  const size_t size = core::SizeOf(layout_.dtype);
  const bool closely = !core::IsFloat(layout_.dtype) || reference_.exact || !reference_.unwritten.empty();
  const auto look = [&](size_t first, size_t count) {
    if (std::memcmp(actual + first * size, reference_.bytes.data() + first * size, count * size) == 0) return;
    std::array<bool, kBlock> fine = {};
    if (!closely) MarkFine(first, actual, std::span(fine).first(count));
    for (size_t k = 0; k < count; ++k)
      if (!fine[k]) visit(first + k);
  };
  ForEachBlock(begin, end, look);
}

void Comparator::MarkFine(size_t first, const std::byte* actual, std::span<bool> fine) const {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const size_t count = fine.size();
  Block values, originals;
  core::LoadAsDoubles(layout_.dtype, actual, first, std::span(values).first(count));
  core::LoadAsDoubles(layout_.dtype, reference_.bytes.data(), first, std::span(originals).first(count));
  const auto finite = [](double x) { return std::fabs(x) <= kLargest; };
  const bool bounds = budget_ && reference_.has_bounds();
  Block truth, bound;
  if (budget_) reference_.truth.Fill(first, std::span(truth).first(count));
  if (bounds) reference_.bound.Fill(first, std::span(bound).first(count));
  if (bounds && !reference_.bound.sampled()) {
    for (size_t k = 0; k < count; ++k)
      fine[k] = bound[k] > 0 && finite(bound[k]) && finite(truth[k]) && finite(originals[k]) && finite(values[k]) &&
                std::fabs(values[k] - truth[k]) <= share_ * bound[k];
    return;
  }
  for (size_t k = 0; k < count;) {
    const size_t index = (first + k) / group_size_;
    const size_t rest = std::min(count, (index + 1) * group_size_ - first);
    const Group& group = groups_[index];
    if (budget_ && !bounds) {
      const double least = std::max({4 * group.original_error, 4 * usual_row_error_ * group.rms,
                                     2 * epsilon_accumulate_ * group.rms, group.conditioning});
      for (; k < rest; ++k)
        fine[k] = finite(originals[k]) && finite(values[k]) && finite(truth[k]) &&
                  std::fabs(values[k] - truth[k]) <= least * kSafely;
      continue;
    }
    const double row = row_share_ + row_factor_ * epsilon_accumulate_ * std::sqrt(layout_.accumulation);
    const double least = row * group.rms + group.conditioning;
    for (; k < rest; ++k)
      fine[k] = finite(originals[k]) && finite(values[k]) && !(bounds && bound[k] == bound[k]) &&  // in no sample
                std::fabs(values[k] - originals[k]) <= (rtol_ * std::fabs(originals[k]) + least) * kSafely;
  }
}

// With bounds, in their units: then large elements do not speak for all.
std::optional<std::string> Comparator::CheckShares(const Shares& all) const {
  if (reference_.structured) return std::nullopt;
  if (all.shares.count() < kShortRow) return std::nullopt;
  const double allowed = 2 * usual_shares_.rms + units_rms_;
  if (!(all.shares.Rms() <= allowed))
    return fmt::format(
        "has a root mean square error of {:.3g} times the bound of its rounding errors against the float64 truth, "
        "allowed {:.3g} (the original has {:.3g})",
        all.shares.Rms(), allowed, original_shares_.rms);
  const auto biased = [&](const Moments& moments, double usual) {
    return std::fabs(moments.Mean()) > 4 * usual + 0.5 * units_rms_ &&
           std::fabs(moments.Mean()) > 6 * moments.StandardError();
  };
  if (biased(all.shares, usual_shares_.bias) || biased(all.shrinkage, usual_shares_.shrinkage))
    return fmt::format(
        "is biased: a mean signed error of {:.3g} times the bound of its rounding errors, where the original has "
        "{:.3g}",
        all.shares.Mean(), original_shares_.bias);
  return std::nullopt;
}

// The rules over the whole output; only with truth, and only after every element passed individually.
std::optional<std::string> Comparator::CheckTotals(const Whole& whole) const {
  if (!budget_ || reference_.exact) return std::nullopt;
  if (reference_.has_bounds()) return CheckShares(whole.shares);
  const Totals& all = whole.totals;
  const Moments &errors = all.errors, &shrinkage = all.shrinkage;
  if (errors.count() < kShortRow) return std::nullopt;
  const double epsilon = core::MachineEpsilon(layout_.dtype);
  const double allowed = 2 * rms_original_error_ + std::min(epsilon, kEpsilonF32) * rms_truth_ + all_conditioning_;
  if (!(errors.Rms() <= allowed))
    return fmt::format(
        "has a root mean square error of {:.3g} against the float64 truth, allowed {:.3g} (the original has {:.3g})",
        errors.Rms(), allowed, rms_original_error_);
  // A bias below half a unit in the last place can result from another order of operations.
  const double harmless = 0.5 * std::min(epsilon, kEpsilonF32) * rms_truth_ + all_conditioning_;
  const auto biased = [&](const Moments& moments, double original) {
    return std::fabs(moments.Mean()) > 4 * original + harmless &&
           std::fabs(moments.Mean()) > 6 * moments.StandardError();
  };
  if (biased(errors, bias_original_) || biased(shrinkage, shrinkage_original_))
    return fmt::format("is biased: a mean signed error of {:.3g}, where the original has {:.3g}", errors.Mean(),
                       bias_original_);
  return std::nullopt;
}

core::WrongSample Comparator::SampleOf(std::span<const std::byte> actual, Allowance allowance) const {
  constexpr size_t kFirst = 4, kLast = 3;
  core::WrongSample sample{.elements = count_};
  MismatchPattern pattern(layout_.shape);
  std::vector<size_t> first;
  std::deque<size_t> last;
  ForEachSuspect(0, count_, actual.data(), [&](size_t i) {
    if (FaultOf(i, actual.data(), allowance) == Fault::kNone) return;
    ++sample.wrong;
    pattern.Add(i, core::LoadAsDouble(layout_.dtype, actual.data(), i),
                core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i));
    if (first.size() < kFirst) return first.push_back(i);
    last.push_back(i);
    if (last.size() > kLast) last.pop_front();
  });
  sample.pattern = pattern.Describe(count_);
  first.insert(first.end(), last.begin(), last.end());
  for (const size_t i : first)
    sample.examples.push_back({ElementName(layout_, i), Describe(layout_.dtype, actual.data(), i),
                               Describe(layout_.dtype, reference_.bytes.data(), i)});
  return sample;
}

bool Comparator::Accepts(std::span<const std::byte> actual) const {
  if (actual.size() != reference_.bytes.size()) return false;
  // An output that is wrong everywhere, like most mutants, is detected immediately.
  constexpr size_t kFirst = 1024;
  std::atomic<bool> accepted = true;
  Allowance allowance = Allowance::kNear;
  const auto check = [&](size_t begin, size_t end) {
    for (size_t first = begin; first < end && accepted; first += kFirst)
      ForEachSuspect(first, std::min(end, first + kFirst), actual.data(), [&](size_t i) {
        if (FaultOf(i, actual.data(), allowance) != Fault::kNone) accepted = false;
      });
  };
  check(0, std::min(kFirst, count_));
  if (!accepted) return false;
  base::ParallelFor(count_, check);  // what is the most that may be allowed, before what is dear to find out
  if (!accepted) return false;
  const Whole whole = MeasureWhole(actual);
  if (whole.allowance() != std::exchange(allowance, whole.allowance())) base::ParallelFor(count_, check);
  return accepted && !CheckTotals(whole);
}

std::optional<Mismatch> Comparator::Check(std::span<const std::byte> actual) const {
  if (actual.size() != reference_.bytes.size())
    return Mismatch{
        .output = layout_.name,
        .wrong = count_,
        .message = fmt::format("{} has {} bytes, expected {}", layout_.name, actual.size(), reference_.bytes.size())};
  if (actual.empty() || base::ParallelEqual(actual, reference_.bytes)) return std::nullopt;
  Mismatch mismatch;
  mismatch.output = layout_.name;
  mismatch.index = count_;
  std::mutex mutex;
  const Whole whole = MeasureWhole(actual);
  const Allowance allowance = whole.allowance();
  base::ParallelFor(count_, [&](size_t begin, size_t end) {
    size_t wrong = 0, first = count_;
    ForEachSuspect(begin, end, actual.data(), [&](size_t i) {
      if (FaultOf(i, actual.data(), allowance) != Fault::kNone && wrong++ == 0) first = i;
    });
    const std::lock_guard lock(mutex);
    mismatch.wrong += wrong;
    mismatch.index = std::min(mismatch.index, first);
  });
  if (mismatch.wrong > 0) {
    const Fault fault = FaultOf(mismatch.index, actual.data(), allowance);
    const core::WrongSample& sample = mismatch.sample.emplace(SampleOf(actual, allowance));
    mismatch.message =
        ElementName(layout_, mismatch.index) + " " + Explain(fault, mismatch.index, actual.data(), allowance);
    mismatch.message += fmt::format("; {} of {} elements are wrong", mismatch.wrong, count_);
    if (mismatch.wrong > 1 && !sample.pattern.empty()) mismatch.message += ": " + sample.pattern;
    return mismatch;
  }
  if (const auto total = CheckTotals(whole))
    return Mismatch{.output = layout_.name, .index = count_, .message = layout_.name + " " + *total};
  return std::nullopt;
}

std::vector<int64_t> Comparator::WrongUnknown(std::span<const std::byte> actual, size_t most) const {
  if (actual.size() != reference_.bytes.size() || !reference_.has_bounds()) return {};
  const Allowance allowance = MeasureWhole(actual).allowance();
  std::vector<int64_t> wrong;
  bool all_unknown = true;
  ForEachSuspect(0, count_, actual.data(), [&](size_t i) {
    if (wrong.size() > most || FaultOf(i, actual.data(), allowance) == Fault::kNone) return;
    all_unknown = all_unknown && std::isnan(reference_.bound[i]);
    wrong.push_back(static_cast<int64_t>(i));
  });
  if (!all_unknown || wrong.size() > most) wrong.clear();
  return wrong;
}

}  // namespace warpwright::judge
