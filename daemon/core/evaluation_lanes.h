// The registers of an evaluation (computation_program.h) and the arithmetic on them: values, and bounds of their
// errors.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "core/computation_evaluate.h"
#include "core/lane_group.h"

namespace warpwright::core {

struct LaneValues {
  Lanes<double> real;
  Lanes<int64_t> whole;    // of integers, and of truth values: 0 or 1
  Lanes<double> error;     // where bounds are asked for, unless `exact`
  Lanes<uint8_t> missing;  // the value depends on what does not exist; only if any_missing
  bool any_missing = false;
  bool exact = true;  // all errors are zero

  const Lanes<double>& Errors() const;
};

// Rounds as f32 does after each operation, for a run in that format (EvaluateOptions::trial).
class LaneRounding {
 public:
  LaneRounding() = default;  // does nothing
  LaneRounding(const FormatTrial& trial, uint64_t stream);
  void Apply(Lanes<double>& values, int64_t count) {
    if (mode_ != Mode::kNone) Round(values, count);
  }
  // Of which sums: those that tensor cores may form are cut off (FormatTrial::truncates_sums).
  enum class Terms : uint8_t { kOfMatrices, kOthers };
  // The same for sums that took a term each.
  void ApplyToSums(Lanes<double>& sums, int64_t count, Terms of);
  // sum + each of the terms, one after another.
  double Accumulate(double sum, std::span<const double> terms, Terms of);

 private:
  enum class Mode : uint8_t { kNone, kNearest, kRandom };
  void Round(Lanes<double>& values, int64_t count);

  Mode mode_ = Mode::kNone;
  bool truncates_sums_ = false;
  Lanes<uint64_t> states_;
};

struct LaneContext {
  std::span<LaneValues> registers;
  const StageProgram* stage = nullptr;
  int64_t count = 0;  // lanes in use
  bool rounds = true;
  LaneRounding* rounding = nullptr;

  std::span<const uint32_t> args(const Step& step) const {
    return std::span(stage->args).subspan(step.first, step.count);
  }
};

double RoundedTo(DType dtype, double value);
int64_t ToInteger(DType dtype, double value);
int64_t Narrowed(DType dtype, int64_t value);

// Everything but kRead, kReduce and kPosition.
void RunArithmetic(const Step& step, const LaneContext& context);

// What an ErrorModel says about one rounding. What the inner loops need is inline.
class ErrorRules {
 public:
  explicit ErrorRules(const ErrorModel& model);
  // The error of a value that was computed with error `before` and then rounded in the format of accumulation.
  double Rounded(double value, double before) const {
    const double magnitude = std::fabs(value) + before;
    const double rounded = magnitude <= largest_part_ ? before + unit_ * magnitude + tiny_ : kNoBound;
    const bool finite = std::fabs(value) <= std::numeric_limits<double>::max();
    return finite ? rounded : before == 0 ? 0 : kNoBound;
  }
  double RoundedTo(DType dtype, double value, double before, bool value_is_rounded) const;
  // Of a sum of `terms` terms, with the sum of their errors, and of their magnitudes and errors.
  double OfSum(double value, double terms, double errors, double magnitudes) const;
  // What a function's rounding adds to the spread of its value: nothing if `free`.
  struct CallRounding {
    bool free = false, grows_with_x = false;
    double ulps = 0, absolute = 0;
  };
  CallRounding RoundingOf(Function function) const;
  double OfCall(const CallRounding& rounding, double x, double value, double spread) const {
    if (rounding.free) return spread;
    if (!(std::fabs(value) <= std::numeric_limits<double>::max())) return spread == 0 ? 0 : kNoBound;
    const double magnitude = std::fabs(value) + spread;
    const double ulps = rounding.ulps + (rounding.grows_with_x ? std::fabs(1.173 * x) * 2.4 : 0);
    return magnitude > largest_ ? kNoBound : spread + (2 * ulps + 1) * unit_ * magnitude + rounding.absolute;
  }
  // A result that may lie in a narrower format before it is used.
  double Stored(double value, double error) const {
    return stores_ && error < kNoBound ? RoundedTo(*stores_, value, error, false) : error;
  }
  double OfLiteral(double value) const;
  double OfInteger(int64_t value, double before) const;
  double Unit() const { return unit_; }
  DType accumulation() const { return accumulation_; }

  static constexpr double kNoBound = std::numeric_limits<double>::infinity();

 private:
  double unit_, tiny_, largest_, largest_part_, literal_;
  DType accumulation_;
  std::optional<DType> stores_;
  bool fast_, probable_, chained_, single_;
};

// The errors of what RunArithmetic computed.
void RunErrors(const Step& step, const LaneContext& context, const ErrorRules& rules);

}  // namespace warpwright::core
