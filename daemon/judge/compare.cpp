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
#include "judge/compare_constants.h"
#include "judge/error_shares.h"
#include "judge/mismatch_pattern.h"

namespace warpwright::judge {
namespace {

constexpr double kSafely = 1 - 1e-9;  // what is worked out in another order may come out that much larger

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
