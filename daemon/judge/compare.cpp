#include "judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

#include "base/parallel.h"
#include "judge/mismatch_pattern.h"

namespace warpwright::judge {
namespace {

constexpr size_t kShortRow = 64;           // rows below this are grouped
constexpr double kConditioningCap = 1e-3;  // of the usual magnitude
constexpr double kEpsilonF32 = 0x1.0p-23;
constexpr double kBoundFactor = 4;                       // k
constexpr double kUsualFactor = 16, kLargestFactor = 4;  // of honest shares
constexpr double kLeastUlps = 8;

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
};
// The output is narrower than the sums: its last rounding is not informative about the computation.
bool Narrows(const OutputLayout& layout, const OutputReference& reference) {
  return core::MachineEpsilon(layout.dtype) > core::MachineEpsilon(reference.accumulation);
}
double SingleOf(const OutputReference& reference, size_t i) {
  return reference.single.empty() ? 0 : reference.single[i];
}
// Of value(i); what the last rounding to `narrowed` may do is taken off.
template <typename Value>
Shares SharesOfValues(const OutputReference& reference, std::optional<core::DType> narrowed, const Value& value) {
  return base::ParallelSum<Shares>(
      reference.bound.size(), base::kParallelChunk, [&](size_t begin, size_t end, Shares& part) {
        for (size_t i = begin; i < end; ++i) {
          const double t = reference.truth[i], b = reference.bound[i], a = value(i);
          if (!(b > 0) || !std::isfinite(b) || !std::isfinite(t) || !std::isfinite(a)) continue;
          if (!reference.unwritten.empty() && reference.unwritten[i]) continue;
          const double rounding = narrowed ? 0.5 * UlpOf(*narrowed, t) : 0;
          part.Add(std::copysign(std::max(0.0, std::fabs(a - t) - rounding), a - t) / b, t);
        }
      });
}

Shares SharesOf(const OutputLayout& layout, const OutputReference& reference, std::span<const std::byte> actual) {
  return SharesOfValues(reference, Narrows(layout, reference) ? std::optional(layout.dtype) : std::nullopt,
                        [&](size_t i) { return core::LoadAsDouble(layout.dtype, actual.data(), i); });
}
ErrorShares Summary(const Shares& all) {
  return {all.shares.Rms(), all.largest, std::fabs(all.shares.Mean()), std::fabs(all.shrinkage.Mean())};
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

ErrorShares MeasureErrors(const OutputLayout& layout, const OutputReference& reference,
                          std::span<const std::byte> actual) {
  return Summary(SharesOf(layout, reference, actual));
}
ErrorShares MeasureErrors(const OutputReference& reference, std::span<const double> values) {
  return Summary(SharesOfValues(reference, std::nullopt, [&](size_t i) { return values[i]; }));
}

ToleranceOverrides ToleranceOverridesOf(const core::KernelSpec& spec) {
  return {spec.tolerance.relative, spec.allow.contains(core::Allow::kTf32),
          spec.allow.contains(core::Allow::kReducedPrecision)};
}

double UlpOf(core::DType dtype, double value) {
  const double magnitude = std::fabs(value), normal = core::SmallestNormal(dtype),
               epsilon = core::MachineEpsilon(dtype);
  if (!(magnitude > normal)) return normal * epsilon;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  return std::ldexp(epsilon, exponent - 1);
}

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

Comparator::Comparator(OutputLayout layout, const OutputReference& reference, const ToleranceOverrides& leniency,
                       double tighten)
    : layout_(std::move(layout)), reference_(reference) {
  count_ = reference_.bytes.size() / core::SizeOf(layout_.dtype);
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
  if (core::IsFloat(layout_.dtype)) Measure();
  if (!budget_ || !reference_.has_bounds()) return;
  original_shares_ = usual_shares_ = MeasureErrors(layout_, reference_, reference_.bytes);
  usual_shares_.Widen(reference_.honest);
  share_ =
      reference_.structured
          ? kBoundFactor
          : std::min(kBoundFactor, std::max(kUsualFactor * usual_shares_.rms, kLargestFactor * usual_shares_.largest));
}

double Comparator::OriginalRelativeError() const {
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

// How far the original is from the truth over the whole output, and this one.
Comparator::Allowance Comparator::AllowanceFor(std::span<const std::byte> actual) const {
  if (!budget_ || reference_.exact) return Allowance::kUsual;
  if (reference_.has_bounds())
    return SharesOf(layout_, reference_, actual).shares.Rms() <= original_shares_.rms ? Allowance::kNear
                                                                                      : Allowance::kUsual;
  const Moments errors =
      base::ParallelSum<Moments>(count_, base::kParallelChunk, [&](size_t begin, size_t end, Moments& part) {
        for (size_t i = begin; i < end; ++i) {
          if (!UsesTruth(i) || (!reference_.unwritten.empty() && reference_.unwritten[i])) continue;
          part.Add(core::LoadAsDouble(layout_.dtype, actual.data(), i) - reference_.truth[i]);
        }
      });
  return errors.Rms() <= rms_original_error_ ? Allowance::kNear : Allowance::kUsual;
}

void Comparator::Measure() {
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
    for (size_t i = g * group_size_; i < std::min(count_, (g + 1) * group_size_); ++i) {
      const double r = core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i);
      if (!std::isfinite(r) || (!reference_.unwritten.empty() && reference_.unwritten[i])) continue;
      magnitude.Add(r);
      if (reference_.conditioning.size() == count_ && std::isfinite(reference_.conditioning[i])) {
        movement.Add(reference_.conditioning[i]);
        all.conditioning.Add(reference_.conditioning[i]);
      }
      if (!UsesTruth(i)) continue;
      const double t = reference_.truth[i], error = r - t;
      // The last rounding of a 16-bit output dwarfs all others and is not informative about the computation: count only
      // the error beyond it.
      const double rounding = IsNarrow(layout_.dtype) ? 0.5 * UlpOf(layout_.dtype, t) : 0;
      group.original_error = std::max(group.original_error, std::fabs(error) - rounding);
      all.Add(t, error);
    }
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
  rms_truth_ = all.truth.Rms();
  rms_original_error_ = all.errors.Rms();
  all_conditioning_ = allowance(all.conditioning, rms_truth_);
  bias_original_ = std::fabs(all.errors.Mean());
  shrinkage_original_ = std::fabs(all.shrinkage.Mean());
  // An output of few elements may be small by cancellation: its usual magnitude counts as well.
  if (count_ < kShortRow && reference_.own_inputs)
    for (Group& group : groups_) group.rms = std::max(group.rms, reference_.typical_rms);
}

double Comparator::BoundTolerance(size_t index, Allowance allowance) const {
  const double bound = reference_.bound[index];
  const double share = allowance == Allowance::kNear ? kBoundFactor : share_;
  const double accumulated = std::max(share * bound, kBoundFactor * SingleOf(reference_, index));
  const double ulp = UlpOf(layout_.dtype, reference_.truth[index]);
  const double rounding = Narrows(layout_, reference_) ? ulp : 0;
  if (IsNarrow(layout_.dtype)) return accumulated + rounding;
  return bound > 0 ? std::max(accumulated + rounding, kLeastUlps * ulp) : rounding;
}

double Comparator::TableTolerance(size_t index, double around) const {
  const Group& group = groups_[index / group_size_];
  const double row = row_share_ + row_factor_ * epsilon_accumulate_ * std::sqrt(layout_.accumulation);
  const double table = rtol_ * std::fabs(around) + row * std::max(std::fabs(around), group.rms);
  return std::max(table, UlpOf(layout_.dtype, around)) + group.conditioning;
}

double Comparator::ToleranceAt(size_t index, Allowance allowance) const {
  if (!core::IsFloat(layout_.dtype) || reference_.exact) return 0;
  if (UsesBound(index)) return BoundTolerance(index, allowance);
  if (reference_.has_bounds() || !UsesTruth(index)) return TableTolerance(index, TargetAt(index));
  const Group& group = groups_[index / group_size_];
  const double t = reference_.truth[index];
  const double usual = std::max(group.original_error, usual_row_error_ * group.rms);
  const double budget = std::max({4 * usual, BudgetUlps(layout_) * UlpOf(layout_.dtype, t),
                                  2 * epsilon_accumulate_ * group.rms, group.conditioning});
  return allowance == Allowance::kNear ? std::max(budget, TableTolerance(index, t)) : budget;
}

std::optional<std::string> Comparator::CheckElement(size_t index, const std::byte* actual, Allowance allowance) const {
  const core::DType dtype = layout_.dtype;
  const std::byte* expected = reference_.bytes.data();
  const size_t size = core::SizeOf(dtype);
  if (std::memcmp(actual + index * size, expected + index * size, size) == 0) return std::nullopt;
  if (!reference_.unwritten.empty() && reference_.unwritten[index])
    return fmt::format("is written ({}), which the original leaves alone", Describe(dtype, actual, index));
  const auto differs = [&](const std::string& detail) {
    return fmt::format("is {}, expected {}{}", Describe(dtype, actual, index), Describe(dtype, expected, index),
                       detail);
  };
  if (!core::IsFloat(dtype)) return differs("");
  const double a = core::LoadAsDouble(dtype, actual, index), r = core::LoadAsDouble(dtype, expected, index);
  if (std::isnan(a) && std::isnan(r)) return std::nullopt;
  if (!std::isfinite(a) || !std::isfinite(r)) return a == r ? std::nullopt : std::optional(differs(""));
  if (reference_.exact)
    return a == r ? std::nullopt : std::optional(differs(" exactly: its inputs make every sum exact"));
  if (a == r) return std::nullopt;  // zeros of both signs
  const double error = std::fabs(a - TargetAt(index)), tolerance = ToleranceAt(index, allowance);
  if (error <= tolerance) return std::nullopt;
  // What it is measured against, where that is not what the original gives.
  const std::string target = TargetAt(index) == r ? "" : fmt::format(" from {:.9g} in float64", TargetAt(index));
  return differs(fmt::format(" (off by {:.3g}{}, allowed {:.3g})", error, target, tolerance));
}

// With bounds, in their units: then large elements do not speak for all.
std::optional<std::string> Comparator::CheckShares(std::span<const std::byte> actual) const {
  if (reference_.structured) return std::nullopt;
  const Shares all = SharesOf(layout_, reference_, actual);
  if (all.shares.count() < kShortRow) return std::nullopt;
  const double epsilon = std::min(core::MachineEpsilon(layout_.dtype), kEpsilonF32);
  const Moments units =
      base::ParallelSum<Moments>(count_, base::kParallelChunk, [&](size_t begin, size_t end, Moments& part) {
        for (size_t i = begin; i < end; ++i)
          if (UsesBound(i) && reference_.bound[i] > 0)
            part.Add((epsilon * std::fabs(reference_.truth[i]) + SingleOf(reference_, i)) / reference_.bound[i]);
      });
  const double allowed = 2 * usual_shares_.rms + units.Rms();
  if (!(all.shares.Rms() <= allowed))
    return fmt::format(
        "has a root mean square error of {:.3g} times the bound of its rounding errors against the float64 truth, "
        "allowed {:.3g} (the original has {:.3g})",
        all.shares.Rms(), allowed, original_shares_.rms);
  const auto biased = [&](const Moments& moments, double usual) {
    return std::fabs(moments.Mean()) > 4 * usual + 0.5 * units.Rms() &&
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
std::optional<std::string> Comparator::CheckTotals(std::span<const std::byte> actual) const {
  if (!budget_ || reference_.exact) return std::nullopt;
  if (reference_.has_bounds()) return CheckShares(actual);
  const Totals all =
      base::ParallelSum<Totals>(count_, base::kParallelChunk, [&](size_t begin, size_t end, Totals& part) {
        for (size_t i = begin; i < end; ++i) {
          if (!UsesTruth(i) || (!reference_.unwritten.empty() && reference_.unwritten[i])) continue;
          const double t = reference_.truth[i];
          part.Add(t, core::LoadAsDouble(layout_.dtype, actual.data(), i) - t);
        }
      });
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

std::string Comparator::Coordinates(size_t index) const {
  std::vector<int64_t> at(layout_.shape.size());
  for (size_t d = at.size(); d-- > 0;) {
    const auto extent = static_cast<size_t>(std::max<int64_t>(1, layout_.shape[d]));
    at[d] = static_cast<int64_t>(index % extent);
    index /= extent;
  }
  return fmt::format("{}[{}]", layout_.name, fmt::join(at, ", "));
}

std::string Comparator::PatternOf(std::span<const std::byte> actual, Allowance allowance) const {
  MismatchPattern pattern(layout_.shape);
  for (size_t i = 0; i < count_; ++i)
    if (CheckElement(i, actual.data(), allowance))
      pattern.Add(i, core::LoadAsDouble(layout_.dtype, actual.data(), i),
                  core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), i));
  const std::string text = pattern.Describe(count_);
  return text.empty() ? text : ": " + text;
}

bool Comparator::Accepts(std::span<const std::byte> actual) const {
  if (actual.size() != reference_.bytes.size()) return false;
  // An output that is wrong everywhere, like most mutants, is detected immediately.
  constexpr size_t kFirst = 1024;
  std::atomic<bool> accepted = true;
  Allowance allowance = Allowance::kNear;
  const auto check = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && accepted; ++i)
      if (CheckElement(i, actual.data(), allowance)) accepted = false;
  };
  check(0, std::min(kFirst, count_));
  if (!accepted) return false;
  allowance = AllowanceFor(actual);
  base::ParallelFor(count_, check);
  return accepted && !CheckTotals(actual);
}

std::optional<Mismatch> Comparator::Check(std::span<const std::byte> actual) const {
  if (actual.size() != reference_.bytes.size())
    return Mismatch{layout_.name, 0, count_,
                    fmt::format("{} has {} bytes, expected {}", layout_.name, actual.size(), reference_.bytes.size())};
  if (actual.empty() || base::ParallelEqual(actual, reference_.bytes)) return std::nullopt;
  Mismatch mismatch;
  mismatch.output = layout_.name;
  mismatch.index = count_;
  std::mutex mutex;
  const Allowance allowance = AllowanceFor(actual);
  base::ParallelFor(count_, [&](size_t begin, size_t end) {
    size_t wrong = 0, first = count_;
    for (size_t i = begin; i < end; ++i)
      if (CheckElement(i, actual.data(), allowance) && wrong++ == 0) first = i;
    const std::lock_guard lock(mutex);
    mismatch.wrong += wrong;
    mismatch.index = std::min(mismatch.index, first);
  });
  if (mismatch.wrong > 0) {
    mismatch.message = Coordinates(mismatch.index) + " " + *CheckElement(mismatch.index, actual.data(), allowance);
    mismatch.message += fmt::format("; {} of {} elements are wrong", mismatch.wrong, count_);
    if (mismatch.wrong > 1) mismatch.message += PatternOf(actual, allowance);
    return mismatch;
  }
  if (const auto total = CheckTotals(actual)) return Mismatch{layout_.name, count_, 0, layout_.name + " " + *total};
  return std::nullopt;
}

}  // namespace warpwright::judge
