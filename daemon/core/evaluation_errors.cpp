// Bounds of errors: the rules that computation_evaluate.h states.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/evaluation_lanes.h"
#include "core/real_function.h"

namespace warpwright::core {
namespace {

constexpr double kNoBound = ErrorRules::kNoBound;

// Arithmetic on bounds makes NaN of 0 * infinity.
double Bound(double error) { return std::isnan(error) ? kNoBound : error; }

class StepErrors {
 public:
  StepErrors(const Step& step, const LaneContext& context, const ErrorRules& rules)
      : step_(step), rules_(rules), args_(context.args(step)), registers_(context.registers) {}

  void Run(Lanes<double>& out, int64_t count) const {
    const auto each = [&](auto error_of) {
      for (int64_t l = 0; l < count; ++l) out[l] = Bound(error_of(l));
    };
    switch (step_.op) {
      case StepOp::kSum: return OfSum(out, count);
      case StepOp::kProduct: return OfProduct(out, count);
      case StepOp::kReciprocal:
      case StepOp::kRealCall: return OfCall(out, count);
      case StepOp::kRealCall2: return OfCall2(out, count);
      case StepOp::kMax:
      case StepOp::kMin:
      case StepOp::kNot:
      case StepOp::kToBoolean: return each([&](int64_t l) { return Largest(l); });
      case StepOp::kIntegerCall:
      case StepOp::kNarrow: return each([&](int64_t l) { return Largest(l) > 0 ? kNoBound : 0; });
      case StepOp::kCompare: return each([&](int64_t l) { return OfCompare(l); });
      case StepOp::kAnd:
      case StepOp::kOr: return each([&](int64_t l) { return OfLogic(l); });
      case StepOp::kSelect: return each([&](int64_t l) { return OfSelect(l); });
      case StepOp::kRound:
        return each([&, dtype = static_cast<DType>(step_.detail)](int64_t l) {
          return rules_.RoundedTo(dtype, Value(0, l), Error(0, l), false);
        });
      case StepOp::kRealToInteger:
        return each([&](int64_t l) { return Spread(Function::kTrunc, Value(0, l), Error(0, l)); });
      case StepOp::kIntegerToReal:
        return each([&](int64_t l) { return rules_.OfInteger(registers_[args_[0]].whole[l], Error(0, l)); });
      case StepOp::kRead:
      case StepOp::kReduce:
      case StepOp::kPosition: break;
    }
    std::fill_n(out.begin(), count, 0);
  }

 private:
  void OfSum(Lanes<double>& out, int64_t count) const {
    Lanes<double> errors, magnitudes;
    errors.fill(0), magnitudes.fill(0);
    for (const uint32_t arg : args_) {
      const LaneValues& values = registers_[arg];
      const Lanes<double>& error = values.Errors();
      for (int64_t l = 0; l < count; ++l) {
        errors[l] += error[l];
        magnitudes[l] += std::fabs(values.real[l]) + error[l];
      }
    }
    const auto terms = static_cast<double>(args_.size());
    const Lanes<double>& result = registers_[step_.out].real;
    for (int64_t l = 0; l < count; ++l)
      out[l] = step_.integer ? errors[l] : Bound(rules_.OfSum(result[l], terms, errors[l], magnitudes[l]));
  }

  void OfProduct(Lanes<double>& out, int64_t count) const {
    Lanes<double> product, error = registers_[args_[0]].Errors();
    for (int64_t l = 0; l < count; ++l) product[l] = Value(0, l);
    for (size_t i = 1; i < args_.size(); ++i) {
      const Lanes<double>& its = registers_[args_[i]].Errors();
      Lanes<double> factor;
      for (int64_t l = 0; l < count; ++l) factor[l] = Value(i, l);
      for (int64_t l = 0; l < count; ++l) {
        const double both = std::fabs(product[l]) * its[l] + std::fabs(factor[l]) * error[l] + error[l] * its[l];
        product[l] *= factor[l];
        // A factor of one or minus one costs no rounding.
        const bool free = step_.integer || (std::fabs(factor[l]) == 1 && its[l] == 0);
        error[l] = free ? both : rules_.Rounded(product[l], both);
      }
    }
    for (int64_t l = 0; l < count; ++l) out[l] = Bound(error[l]);
  }

  double Value(size_t arg, int64_t l) const {
    const LaneValues& values = registers_[args_[arg]];
    return step_.integer ? static_cast<double>(values.whole[l]) : values.real[l];
  }
  double Error(size_t arg, int64_t l) const { return registers_[args_[arg]].Errors()[l]; }
  double Result(int64_t l) const { return registers_[step_.out].real[l]; }
  double Largest(int64_t l) const {
    double largest = 0;
    for (size_t i = 0; i < args_.size(); ++i) largest = std::max(largest, Error(i, l));
    return largest;
  }

  void OfCall(Lanes<double>& out, int64_t count) const {
    const auto function = step_.op == StepOp::kReciprocal ? Function::kReciprocal : static_cast<Function>(step_.detail);
    const ErrorRules::CallRounding rounding = rules_.RoundingOf(function);
    const double rate = function == Function::kExp     ? 1
                        : function == Function::kExp2  ? M_LN2
                        : function == Function::kExp10 ? M_LN10
                                                       : 0;
    for (int64_t l = 0; l < count; ++l) {
      const double error = Error(0, l), exponent = rate * error, value = Result(l);
      // Without more exponentials: e^d - 1 <= d (1 + d) for d up to a half.
      const bool small = rate > 0 && exponent <= 0.5 && std::isfinite(value);
      const double spread = small ? value * exponent * (1 + exponent) : Spread(function, Value(0, l), error);
      const double rounded = rules_.OfCall(rounding, Value(0, l), value, spread);
      out[l] = Bound(rounding.free ? rounded : rules_.Stored(value, rounded));
    }
  }
  void OfCall2(Lanes<double>& out, int64_t count) const {
    const auto function = static_cast<Function>(step_.detail);
    const ErrorRules::CallRounding rounding = rules_.RoundingOf(function);
    for (int64_t l = 0; l < count; ++l) {
      const double spread = Spread(function, Value(0, l), Value(1, l), Error(0, l), Error(1, l));
      const double error = rules_.OfCall(rounding, Value(0, l), Result(l), spread);
      out[l] = Bound(rounding.free ? error : rules_.Stored(Result(l), error));
    }
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

// Operations that make no error of exact arguments.
bool IsExact(const Step& step) {
  switch (step.op) {
    case StepOp::kSum:
    case StepOp::kProduct: return step.integer;
    case StepOp::kReciprocal:
    case StepOp::kRealCall:
    case StepOp::kRealCall2:
    case StepOp::kRound:
    case StepOp::kIntegerToReal: return false;
    default: return true;
  }
}

double HalfSubnormal(DType dtype) { return SmallestNormal(dtype) * MachineEpsilon(dtype) / 2; }

}  // namespace

ErrorRules::ErrorRules(const ErrorModel& model)
    : unit_(MachineEpsilon(model.accumulation) / 2),
      tiny_(model.fast ? SmallestNormal(model.accumulation) : HalfSubnormal(model.accumulation)),
      largest_(LargestFinite(model.accumulation)),
      largest_part_(LargestFinite(model.stores_parts && model.stores ? *model.stores : model.accumulation)),
      literal_(model.literal),
      accumulation_(model.accumulation),
      stores_(model.stores),
      fast_(model.fast),
      probable_(model.probable),
      chained_(model.chained),
      single_(model.single) {}

double ErrorRules::OfLiteral(double value) const {
  return std::max(Rounded(value, 0), std::isfinite(value) ? literal_ * std::fabs(value) : 0);
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
  if (magnitudes > largest_part_) return kNoBound;
  constexpr auto kChain = static_cast<double>(kLongestChain);
  const double roundings = chained_ && terms > kChain ? kChain - 1 + std::ceil(terms / kChain) - 1 : terms - 1;
  const double growth = single_ ? 1 : probable_ ? std::min(roundings, 6 * std::sqrt(terms - 1)) : roundings;
  return errors + growth * unit_ * magnitudes;
}
ErrorRules::CallRounding ErrorRules::RoundingOf(Function function) const {
  if (function >= Function::kFloor && function <= Function::kSign) return {.free = true};
  if (function == Function::kAbs || function == Function::kCopysign || function == Function::kFmod)
    return {.free = true};
  CallRounding rounding{.ulps = UlpsOf(function), .absolute = tiny_};
  if (!fast_) return rounding;
  // The Guide's table of intrinsic functions: __expf 2 + floor(|1.173 x|) ulp, __logf and __sinf 2^-21.4 in the
  // middle of their range, division and the roots 2 ulp; tanh.approx.f32: 2^-11 relative (PTX ISA).
  rounding.ulps += function == Function::kTanh ? 0x1p13 : 2;
  rounding.grows_with_x = function >= Function::kExp && function <= Function::kExp10;
  if (function >= Function::kLog && function <= Function::kTan) rounding.absolute += 0x1p-21;
  return rounding;
}
double ErrorRules::OfInteger(int64_t value, double before) const {
  const auto number = static_cast<double>(value);
  if (std::fabs(number) + before <= 1 / unit_) return before;  // all integers up to there are exact
  if (before == 0 && core::RoundedTo(accumulation_, number) == number) return 0;
  return Rounded(number, before);
}

const Lanes<double>& LaneValues::Errors() const {
  static constexpr Lanes<double> kNone = {};
  return exact ? kNone : error;
}

void RunErrors(const Step& step, const LaneContext& context, const ErrorRules& rules) {
  const auto args = context.args(step);
  LaneValues& out = context.registers[step.out];
  const bool exact = std::all_of(args.begin(), args.end(), [&](uint32_t arg) { return context.registers[arg].exact; });
  out.exact = exact && IsExact(step);
  if (out.exact) return;
  const StepErrors errors(step, context, rules);
  if (step.op != StepOp::kRound || !context.rounds) return errors.Run(out.error, context.count);
  // The value was rounded, and so is what the error is measured against.
  const LaneValues& from = context.registers[args[0]];
  const Lanes<double>& before = from.Errors();
  for (int64_t l = 0; l < context.count; ++l)
    out.error[l] = Bound(rules.RoundedTo(static_cast<DType>(step.detail), from.real[l], before[l], true));
}

}  // namespace warpwright::core
