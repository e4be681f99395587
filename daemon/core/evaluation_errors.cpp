// Bounds of errors: the rules that computation_evaluate.h states.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/evaluation_lanes.h"
#include "core/real_function.h"

namespace warpwright::core {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Arithmetic on bounds makes NaN of 0 * infinity.
double Bound(double error) { return std::isnan(error) ? kNoBound : error; }

class StepErrors {
 public:
  StepErrors(const Step& step, const LaneContext& context, const ErrorRules& rules)
      : step_(step), rules_(rules), args_(context.args(step)), registers_(context.registers) {}

  double At(int64_t l) const {
    switch (step_.op) {
      case StepOp::kSum: return OfSum(l);
      case StepOp::kProduct: return OfProduct(l);
      case StepOp::kMax:
      case StepOp::kMin:
      case StepOp::kNot:
      case StepOp::kToBoolean: return Largest(l);
      case StepOp::kReciprocal:
      case StepOp::kRealCall: return OfCall(l);
      case StepOp::kRealCall2: return OfCall2(l);
      case StepOp::kIntegerCall:
      case StepOp::kNarrow: return Largest(l) > 0 ? kNoBound : 0;
      case StepOp::kCompare: return OfCompare(l);
      case StepOp::kAnd:
      case StepOp::kOr: return OfLogic(l);
      case StepOp::kSelect: return OfSelect(l);
      case StepOp::kRound: return rules_.RoundedTo(static_cast<DType>(step_.detail), Value(0, l), Error(0, l), false);
      case StepOp::kRealToInteger: return Spread(Function::kTrunc, Value(0, l), Error(0, l));
      case StepOp::kIntegerToReal: return rules_.OfInteger(registers_[args_[0]].whole[l], Error(0, l));
      case StepOp::kRead:
      case StepOp::kReduce:
      case StepOp::kPosition: break;
    }
    return 0;
  }

 private:
  double Value(size_t arg, int64_t l) const {
    const LaneValues& values = registers_[args_[arg]];
    return step_.integer ? static_cast<double>(values.whole[l]) : values.real[l];
  }
  double Error(size_t arg, int64_t l) const { return registers_[args_[arg]].error[l]; }
  double Result(int64_t l) const { return registers_[step_.out].real[l]; }
  double Largest(int64_t l) const {
    double largest = 0;
    for (size_t i = 0; i < args_.size(); ++i) largest = std::max(largest, Error(i, l));
    return largest;
  }

  double OfSum(int64_t l) const {
    double errors = 0, magnitudes = 0;
    for (size_t i = 0; i < args_.size(); ++i) {
      errors += Error(i, l);
      magnitudes += std::fabs(Value(i, l)) + Error(i, l);
    }
    return step_.integer ? errors : rules_.OfSum(Result(l), static_cast<double>(args_.size()), errors, magnitudes);
  }
  double OfProduct(int64_t l) const {
    double value = Value(0, l), error = Error(0, l);
    for (size_t i = 1; i < args_.size(); ++i) {
      const double factor = Value(i, l), its = Error(i, l);
      error = std::fabs(value) * its + std::fabs(factor) * error + error * its;
      value *= factor;
      // A factor of one or minus one costs no rounding.
      if (!step_.integer && !(std::fabs(factor) == 1 && its == 0)) error = rules_.Rounded(value, error);
    }
    return error;
  }
  double OfCall(int64_t l) const {
    const auto function = step_.op == StepOp::kReciprocal ? Function::kReciprocal : static_cast<Function>(step_.detail);
    return rules_.OfCall(function, Value(0, l), Result(l), Spread(function, Value(0, l), Error(0, l)));
  }
  double OfCall2(int64_t l) const {
    const auto function = static_cast<Function>(step_.detail);
    const double spread = Spread(function, Value(0, l), Value(1, l), Error(0, l), Error(1, l));
    return rules_.OfCall(function, Value(0, l), Result(l), spread);
  }
  double OfCompare(int64_t l) const {
    const double slack = Error(0, l) + Error(1, l);
    return slack > 0 && !(std::fabs(Value(0, l) - Value(1, l)) > slack) ? 1 : 0;
  }
  double OfLogic(int64_t l) const {
    const int64_t decides = step_.op == StepOp::kOr ? 1 : 0;
    for (size_t i = 0; i < args_.size(); ++i)
      if (Error(i, l) == 0 && registers_[args_[i]].whole[l] == decides) return 0;
    return Largest(l);
  }
  double OfSelect(int64_t l) const {
    const double then = Error(1, l), otherwise = Error(2, l);
    if (Error(0, l) == 0) return registers_[args_[0]].whole[l] != 0 ? then : otherwise;
    const double difference = std::fabs(Value(1, l) - Value(2, l));
    return difference + std::max(then, otherwise);
  }

  const Step& step_;
  const ErrorRules& rules_;
  std::span<const uint32_t> args_;
  std::span<LaneValues> registers_;
};

double HalfSubnormal(DType dtype) { return SmallestNormal(dtype) * MachineEpsilon(dtype) / 2; }

}  // namespace

ErrorRules::ErrorRules(const ErrorModel& model)
    : unit_(MachineEpsilon(model.accumulation) / 2),
      tiny_(model.fast ? SmallestNormal(model.accumulation) : HalfSubnormal(model.accumulation)),
      largest_(LargestFinite(model.accumulation)),
      accumulation_(model.accumulation),
      fast_(model.fast),
      probable_(model.probable) {}

double ErrorRules::Rounded(double value, double before) const {
  if (!std::isfinite(value)) return before == 0 ? 0 : kNoBound;
  const double magnitude = std::fabs(value) + before;
  return magnitude > largest_ ? kNoBound : before + unit_ * magnitude + tiny_;
}
double ErrorRules::RoundedTo(DType dtype, double value, double before, bool value_is_rounded) const {
  if (!std::isfinite(value)) return before == 0 ? 0 : kNoBound;
  if (value_is_rounded && before == 0) return 0;
  const double magnitude = std::fabs(value) + before;
  if (magnitude > LargestFinite(dtype)) return kNoBound;
  const double once = MachineEpsilon(dtype) / 2 * magnitude + HalfSubnormal(dtype);
  return before + (value_is_rounded ? 2 : 1) * once;
}
double ErrorRules::OfSum(double value, double terms, double errors, double magnitudes) const {
  if (terms < 2) return errors;
  if (!std::isfinite(value)) return errors == 0 ? 0 : kNoBound;
  if (magnitudes > largest_) return kNoBound;
  const double growth = probable_ ? std::min(terms - 1, 6 * std::sqrt(terms - 1)) : terms - 1;
  return errors + growth * unit_ * magnitudes;
}
double ErrorRules::OfCall(Function function, double x, double value, double spread) const {
  if (function >= Function::kFloor && function <= Function::kSign) return spread;
  if (function == Function::kAbs || function == Function::kCopysign || function == Function::kFmod) return spread;
  if (!std::isfinite(value)) return spread == 0 ? 0 : kNoBound;
  const double magnitude = std::fabs(value) + spread;
  if (magnitude > largest_) return kNoBound;
  double ulps = UlpsOf(function);
  double absolute = tiny_;
  if (fast_) {
    // The Guide's table of intrinsic functions: __expf 2 + floor(|1.173 x|) ulp, __logf and __sinf 2^-21.4 in the
    // middle of their range, division and the roots 2 ulp; tanh.approx.f32: 2^-11 relative (PTX ISA).
    ulps += function == Function::kTanh ? 0x1p13 : 2;
    if (function >= Function::kExp && function <= Function::kExp10) ulps += std::fabs(1.173 * x) * 2.4;
    if (function >= Function::kLog && function <= Function::kTan) absolute += 0x1p-21;
  }
  return spread + (2 * ulps + 1) * unit_ * magnitude + absolute;
}
double ErrorRules::OfInteger(int64_t value, double before) const {
  const auto number = static_cast<double>(value);
  if (std::fabs(number) + before <= 1 / unit_) return before;  // all integers up to there are exact
  if (before == 0 && core::RoundedTo(accumulation_, number) == number) return 0;
  return Rounded(number, before);
}

void RunErrors(const Step& step, const LaneContext& context, const ErrorRules& rules) {
  const StepErrors errors(step, context, rules);
  auto& out = context.registers[step.out].error;
  for (int64_t l = 0; l < context.count; ++l) out[l] = Bound(errors.At(l));
  if (step.op != StepOp::kRound || !context.rounds) return;
  // The value was rounded, and so is what the error is measured against.
  const LaneValues& from = context.registers[context.args(step)[0]];
  for (int64_t l = 0; l < context.count; ++l)
    out[l] = Bound(rules.RoundedTo(static_cast<DType>(step.detail), from.real[l], from.error[l], true));
}

}  // namespace warpwright::core
