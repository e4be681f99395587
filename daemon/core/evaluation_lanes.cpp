#include "core/evaluation_lanes.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "core/real_function.h"

namespace warpwright::core {
namespace {

int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// out = out op each further argument; `after` each.
template <typename T, typename Op, typename After>
void Fold(Lanes<T> LaneValues::* values, const LaneContext& context, const Step& step, Op op, After after) {
  const auto args = context.args(step);
  auto& out = context.registers[step.out].*values;
  const auto& first = context.registers[args[0]].*values;
  if (args.size() == 1) out = first;
  for (size_t i = 1; i < args.size(); ++i) {
    const auto &before = i == 1 ? first : out, &next = context.registers[args[i]].*values;
    for (int64_t l = 0; l < context.count; ++l) out[l] = op(before[l], next[l]);
    after(out);
  }
}
template <typename T, typename Op>
void Fold(Lanes<T> LaneValues::* values, const LaneContext& context, const Step& step, Op op) {
  Fold(values, context, step, op, [](const Lanes<T>&) {});
}
// Of real numbers, rounded in a run in a narrower format.
template <typename Op>
void FoldRounded(const LaneContext& context, const Step& step, Op op) {
  Fold(&LaneValues::real, context, step, op, [&](Lanes<double>& out) {
    if (context.rounding != nullptr) context.rounding->Apply(out, context.count);
  });
}
template <typename Op>
void EachReal(const LaneContext& context, const Step& step, Op op) {
  const auto& from = context.registers[context.args(step)[0]].real;
  auto& out = context.registers[step.out].real;
  for (int64_t l = 0; l < context.count; ++l) out[l] = op(from[l]);
}

template <typename T>
void RunCompare(Lanes<T> LaneValues::* values, const LaneContext& context, const Step& step) {
  const auto args = context.args(step);
  const auto &left = context.registers[args[0]].*values, &right = context.registers[args[1]].*values;
  auto& out = context.registers[step.out].whole;
  const auto each = [&](auto op) {
    for (int64_t l = 0; l < context.count; ++l) out[l] = op(left[l], right[l]) ? 1 : 0;
  };
  switch (static_cast<Comparison>(step.detail)) {
    case Comparison::kLess: return each([](T a, T b) { return a < b; });
    case Comparison::kLessEqual: return each([](T a, T b) { return a <= b; });
    case Comparison::kEqual: return each([](T a, T b) { return a == b; });
    case Comparison::kNotEqual: return each([](T a, T b) { return a != b; });
  }
}

template <typename T>
void RunSelect(Lanes<T> LaneValues::* values, const LaneContext& context, const Step& step) {
  const auto args = context.args(step);
  const auto& condition = context.registers[args[0]].whole;
  const auto &then = context.registers[args[1]].*values, &otherwise = context.registers[args[2]].*values;
  auto& out = context.registers[step.out].*values;
  for (int64_t l = 0; l < context.count; ++l) out[l] = condition[l] != 0 ? then[l] : otherwise[l];
}

void RunIntegerCall(const LaneContext& context, const Step& step) {
  const auto args = context.args(step);
  const auto &x = context.registers[args[0]].whole, &y = context.registers[args[args.size() - 1]].whole;
  auto& out = context.registers[step.out].whole;
  for (int64_t l = 0; l < context.count; ++l) out[l] = ApplyInteger(static_cast<Function>(step.detail), x[l], y[l]);
}
void RunRealCall(const LaneContext& context, const Step& step) {
  const auto function = static_cast<Function>(step.detail);
  const auto args = context.args(step);
  if (args.size() == 1) return EachReal(context, step, FunctionOf(function));
  const auto &x = context.registers[args[0]].real, &y = context.registers[args[1]].real;
  auto& out = context.registers[step.out].real;
  for (int64_t l = 0; l < context.count; ++l) out[l] = Apply(function, x[l], y[l]);
}

// Where an argument is missing, so is the value, unless a selection does not take it or logic need not know it.
void PassMissing(const Step& step, const LaneContext& context) {
  const auto args = context.args(step);
  LaneValues& out = context.registers[step.out];
  out.any_missing = false;
  for (const uint32_t arg : args) out.any_missing = out.any_missing || context.registers[arg].any_missing;
  if (!out.any_missing) return;
  const auto missing = [&](uint32_t arg, int64_t l) {
    return context.registers[arg].any_missing && context.registers[arg].missing[l] != 0;
  };
  for (int64_t l = 0; l < context.count; ++l) {
    bool any = false;
    if (step.op == StepOp::kSelect) {
      any = missing(args[0], l) || missing(context.registers[args[0]].whole[l] != 0 ? args[1] : args[2], l);
    } else {
      bool decided = false;
      for (const uint32_t arg : args) {
        const bool absent = missing(arg, l), value = context.registers[arg].whole[l] != 0;
        if (step.op == StepOp::kAnd) decided = decided || (!absent && !value);
        if (step.op == StepOp::kOr) decided = decided || (!absent && value);
        any = any || absent;
      }
      if (decided) any = false, context.registers[step.out].whole[l] = step.op == StepOp::kOr ? 1 : 0;
    }
    out.missing[l] = any ? 1 : 0;
  }
}

// 52 random bits of each lane's own sequence: Marsaglia's xorshift.
uint64_t NextState(uint64_t state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^ (state << 17);
}
// To either neighbour, the likelier the nearer it is: to nearest after up to half a unit was added or taken away.
double RoundedAtRandom(uint64_t& state, double value) {
  constexpr uint64_t kExponent = 0x7ff0000000000000, kOne = 0x3ff0000000000000;
  state = NextState(state);
  const double uniform = std::bit_cast<double>((state >> 12) | kOne) - 1.5;
  const double unit = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & kExponent) * 0x1p-23;
  const double moved = value + uniform * unit;
  return static_cast<float>(std::fabs(value) <= std::numeric_limits<float>::max() ? moved : value);
}

// Toward zero.
double Truncated(double value) {
  const auto nearest = static_cast<float>(value);
  if (!(std::fabs(static_cast<double>(nearest)) > std::fabs(value))) return nearest;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1);
}

}  // namespace

LaneRounding::LaneRounding(const FormatTrial& trial, uint64_t stream)
    : mode_(trial.random_rounding ? Mode::kRandom : Mode::kNearest), truncates_sums_(trial.truncates_sums) {
  const base::CounterRandom random(trial.seed, stream);
  for (size_t l = 0; l < states_.size(); ++l) states_[l] = random.Bits(l) | 1;
}

void LaneRounding::Round(Lanes<double>& values, int64_t count) {
  if (mode_ == Mode::kNearest) {
    for (int64_t l = 0; l < count; ++l) values[l] = static_cast<float>(values[l]);
    return;
  }
  for (int64_t l = 0; l < count; ++l) values[l] = RoundedAtRandom(states_[l], values[l]);
}

void LaneRounding::ApplyToSums(Lanes<double>& sums, int64_t count, Terms of) {
  if (!truncates_sums_ || of == Terms::kOthers) return Apply(sums, count);
  for (int64_t l = 0; l < count; ++l) sums[l] = Truncated(sums[l]);
}

double LaneRounding::Accumulate(double sum, std::span<const double> terms, Terms of) {
  if (truncates_sums_ && of == Terms::kOfMatrices) {
    for (const double term : terms) sum = Truncated(sum + term);
    return sum;
  }
  switch (mode_) {
    case Mode::kNone:
      for (const double term : terms) sum += term;
      break;
    case Mode::kNearest:
      for (const double term : terms) sum = static_cast<float>(sum + term);
      break;
    case Mode::kRandom:
      for (const double term : terms) sum = RoundedAtRandom(states_[0], sum + term);
      break;
  }
  return sum;
}

double RoundedTo(DType dtype, double value) {
  switch (dtype) {
    case DType::kF32: return static_cast<float>(value);
    case DType::kF16: return HalfToFloat(DoubleToHalf(value));
    case DType::kBF16: return BFloat16ToFloat(DoubleToBFloat16(value));
    default: return value;
  }
}
int64_t ToInteger(DType dtype, double value) {
  if (std::isnan(value)) return 0;
  const bool is_unsigned = dtype == DType::kU32 || dtype == DType::kU8 || dtype == DType::kBool;
  const int64_t high =
      dtype == DType::kI64 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(LargestFinite(dtype));
  const int64_t low = is_unsigned ? 0 : -high - 1;
  if (value >= static_cast<double>(high)) return high;
  return value <= static_cast<double>(low) ? low : static_cast<int64_t>(value);
}
int64_t Narrowed(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kI32: return static_cast<int32_t>(value);
    case DType::kU32: return static_cast<uint32_t>(value);
    case DType::kI8: return static_cast<int8_t>(value);
    case DType::kU8: return static_cast<uint8_t>(value);
    case DType::kBool: return value != 0 ? 1 : 0;
    default: return value;
  }
}

void RunArithmetic(const Step& step, const LaneContext& context) {
  constexpr auto kReal = &LaneValues::real;
  constexpr auto kWhole = &LaneValues::whole;
  const auto dtype = static_cast<DType>(step.detail);
  const auto args = context.args(step);
  LaneValues& out = context.registers[step.out];
  const LaneValues& first = context.registers[args[0]];
  const auto each_whole = [&](auto op) {
    for (int64_t l = 0; l < context.count; ++l) out.whole[l] = op(l);
  };
  switch (step.op) {
    case StepOp::kSum:
      step.integer ? Fold(kWhole, context, step, WrappingAdd) : FoldRounded(context, step, std::plus<double>());
      break;
    case StepOp::kProduct:
      step.integer ? Fold(kWhole, context, step, WrappingMultiply)
                   : FoldRounded(context, step, std::multiplies<double>());
      break;
    case StepOp::kMax:
      step.integer ? Fold(kWhole, context, step, [](int64_t a, int64_t b) { return a > b ? a : b; })
                   : Fold(kReal, context, step, [](double a, double b) { return a > b || std::isnan(b) ? a : b; });
      break;
    case StepOp::kMin:
      step.integer ? Fold(kWhole, context, step, [](int64_t a, int64_t b) { return a < b ? a : b; })
                   : Fold(kReal, context, step, [](double a, double b) { return a < b || std::isnan(b) ? a : b; });
      break;
    case StepOp::kRealCall:
    case StepOp::kRealCall2: RunRealCall(context, step); break;
    case StepOp::kReciprocal: EachReal(context, step, [](double x) { return 1 / x; }); break;
    case StepOp::kIntegerCall: RunIntegerCall(context, step); break;
    case StepOp::kCompare: step.integer ? RunCompare(kWhole, context, step) : RunCompare(kReal, context, step); break;
    case StepOp::kAnd: Fold(kWhole, context, step, [](int64_t a, int64_t b) { return a & b; }); break;
    case StepOp::kOr: Fold(kWhole, context, step, [](int64_t a, int64_t b) { return a | b; }); break;
    case StepOp::kNot: each_whole([&](int64_t l) { return first.whole[l] ^ 1; }); break;
    case StepOp::kSelect: step.integer ? RunSelect(kWhole, context, step) : RunSelect(kReal, context, step); break;
    case StepOp::kRound:
      if (context.rounds) EachReal(context, step, [&](double x) { return RoundedTo(dtype, x); });
      else out.real = first.real;
      break;
    case StepOp::kRealToInteger: each_whole([&](int64_t l) { return ToInteger(dtype, first.real[l]); }); break;
    case StepOp::kNarrow: each_whole([&](int64_t l) { return Narrowed(dtype, first.whole[l]); }); break;
    case StepOp::kToBoolean:
      each_whole([&](int64_t l) { return (step.integer ? first.whole[l] != 0 : first.real[l] != 0) ? 1 : 0; });
      break;
    case StepOp::kIntegerToReal:
      for (int64_t l = 0; l < context.count; ++l) out.real[l] = static_cast<double>(first.whole[l]);
      break;
    case StepOp::kRead:
    case StepOp::kReduce:
    case StepOp::kPosition: return;
  }
  if (context.rounding != nullptr && (step.op == StepOp::kRealCall || step.op == StepOp::kRealCall2 ||
                                      step.op == StepOp::kReciprocal || step.op == StepOp::kIntegerToReal))
    context.rounding->Apply(out.real, context.count);
  PassMissing(step, context);
}

}  // namespace warpwright::core
