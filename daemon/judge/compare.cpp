#include "judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

#include "base/parallel.h"

namespace warpwright::judge {
namespace {

constexpr size_t kShortRow = 64;           // rows below this are grouped
constexpr double kConditioningCap = 1e-3;  // of the usual magnitude
constexpr double kEpsilonF32 = 0x1.0p-23;

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

std::string Describe(core::DType dtype, const std::byte* data, size_t index) {
  if (!core::IsFloat(dtype)) return fmt::format("{}", core::LoadAsInteger(dtype, data, index));
  return fmt::format("{:.9g}", core::LoadAsDouble(dtype, data, index));
}

}  // namespace

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
}

double Comparator::OriginalRelativeError() const {
  return budget_ && rms_truth_ > 0 ? rms_original_error_ / rms_truth_ : 0;
}

bool Comparator::UsesTruth(size_t index) const {
  return budget_ && std::isfinite(reference_.truth[index]) &&
         std::isfinite(core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), index));
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
  rms_truth_ = all.truth.Rms();
  rms_original_error_ = all.errors.Rms();
  all_conditioning_ = allowance(all.conditioning, rms_truth_);
  bias_original_ = std::fabs(all.errors.Mean());
  shrinkage_original_ = std::fabs(all.shrinkage.Mean());
  // An output of few elements may be small by cancellation: its usual magnitude counts as well.
  if (count_ < kShortRow && reference_.own_inputs)
    for (Group& group : groups_) group.rms = std::max(group.rms, reference_.typical_rms);
}

double Comparator::ToleranceAt(size_t index) const {
  if (!core::IsFloat(layout_.dtype) || reference_.exact) return 0;
  const Group& group = groups_[index / group_size_];
  if (UsesTruth(index)) {
    const double t = reference_.truth[index];
    return std::max({4 * group.original_error, BudgetUlps(layout_) * UlpOf(layout_.dtype, t),
                     2 * epsilon_accumulate_ * group.rms, group.conditioning});
  }
  const double r = core::LoadAsDouble(layout_.dtype, reference_.bytes.data(), index);
  const double row = row_share_ + row_factor_ * epsilon_accumulate_ * std::sqrt(layout_.accumulation);
  const double table = rtol_ * std::fabs(r) + row * std::max(std::fabs(r), group.rms);
  return std::max(table, UlpOf(layout_.dtype, r)) + group.conditioning;
}

std::optional<std::string> Comparator::CheckElement(size_t index, const std::byte* actual) const {
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
  const double target = UsesTruth(index) ? reference_.truth[index] : r;
  const double error = std::fabs(a - target), tolerance = ToleranceAt(index);
  if (!(error <= tolerance)) return differs(fmt::format(" (off by {:.3g}, allowed {:.3g})", error, tolerance));
  return std::nullopt;
}

// The rules over the whole output; only with truth, and only after every element passed individually.
std::optional<std::string> Comparator::CheckTotals(std::span<const std::byte> actual) const {
  if (!budget_ || reference_.exact) return std::nullopt;
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

bool Comparator::Accepts(std::span<const std::byte> actual) const {
  if (actual.size() != reference_.bytes.size()) return false;
  // An output that is wrong everywhere, like most mutants, is detected immediately.
  constexpr size_t kFirst = 1024;
  std::atomic<bool> accepted = true;
  const auto check = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && accepted; ++i)
      if (CheckElement(i, actual.data())) accepted = false;
  };
  check(0, std::min(kFirst, count_));
  if (accepted) base::ParallelFor(count_, check);
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
  base::ParallelFor(count_, [&](size_t begin, size_t end) {
    size_t wrong = 0, first = count_;
    for (size_t i = begin; i < end; ++i)
      if (CheckElement(i, actual.data()) && wrong++ == 0) first = i;
    const std::lock_guard lock(mutex);
    mismatch.wrong += wrong;
    mismatch.index = std::min(mismatch.index, first);
  });
  if (mismatch.wrong > 0) {
    mismatch.message = Coordinates(mismatch.index) + " " + *CheckElement(mismatch.index, actual.data());
    mismatch.message += fmt::format("; {} of {} elements are wrong", mismatch.wrong, count_);
    return mismatch;
  }
  if (const auto total = CheckTotals(actual)) return Mismatch{layout_.name, count_, 0, layout_.name + " " + *total};
  return std::nullopt;
}

}  // namespace warpwright::judge
