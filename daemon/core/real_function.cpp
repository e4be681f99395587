#include "core/real_function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "core/computation_walk.h"

namespace warpwright::core {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double InverseErf(double x) {
  namespace policies = boost::math::policies;
  using Quiet =
      policies::policy<policies::domain_error<policies::ignore_error>, policies::overflow_error<policies::ignore_error>,
                       policies::underflow_error<policies::ignore_error>,
                       policies::evaluation_error<policies::ignore_error>,
                       policies::rounding_error<policies::ignore_error>>;
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(kInfinite, x) : std::nan("");
  return boost::math::erf_inv(x, Quiet());
}

struct RealFacts {
  Function function;
  RealFunction apply;
  double ulps;
  enum class Shape { kMonotone, kLipschitz, kOther } shape = Shape::kMonotone;
  double low = -kInfinite, high = kInfinite;  // of the domain, where it is clamped
};
using Shape = RealFacts::Shape;

// In the order of Function.
constexpr RealFacts kReal[] = {
    {Function::kReciprocal, [](double x) { return 1 / x; }, 0, Shape::kOther},
    {Function::kSqrt, [](double x) { return std::sqrt(x); }, 0, Shape::kMonotone, 0},
    {Function::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2, Shape::kMonotone, 0},
    {Function::kExp, [](double x) { return std::exp(x); }, 2},
    {Function::kExp2, [](double x) { return std::exp2(x); }, 2},
    {Function::kExp10, [](double x) { return std::pow(10.0, x); }, 2},
    {Function::kExpm1, [](double x) { return std::expm1(x); }, 1},
    {Function::kLog, [](double x) { return std::log(x); }, 1, Shape::kMonotone, 0},
    {Function::kLog2, [](double x) { return std::log2(x); }, 1, Shape::kMonotone, 0},
    {Function::kLog10, [](double x) { return std::log10(x); }, 2, Shape::kMonotone, 0},
    {Function::kLog1p, [](double x) { return std::log1p(x); }, 1, Shape::kMonotone, -1},
    {Function::kSin, [](double x) { return std::sin(x); }, 2, Shape::kLipschitz},
    {Function::kCos, [](double x) { return std::cos(x); }, 2, Shape::kLipschitz},
    {Function::kTan, [](double x) { return std::tan(x); }, 4, Shape::kOther},
    {Function::kAsin, [](double x) { return std::asin(x); }, 2, Shape::kMonotone, -1, 1},
    {Function::kAcos, [](double x) { return std::acos(x); }, 2, Shape::kMonotone, -1, 1},
    {Function::kAtan, [](double x) { return std::atan(x); }, 2},
    {Function::kSinh, [](double x) { return std::sinh(x); }, 3},
    {Function::kCosh, [](double x) { return std::cosh(x); }, 2, Shape::kOther},
    {Function::kTanh, [](double x) { return std::tanh(x); }, 2},
    {Function::kAsinh, [](double x) { return std::asinh(x); }, 3},
    {Function::kAcosh, [](double x) { return std::acosh(x); }, 4, Shape::kMonotone, 1},
    {Function::kAtanh, [](double x) { return std::atanh(x); }, 3, Shape::kMonotone, -1, 1},
    {Function::kErf, [](double x) { return std::erf(x); }, 2},
    {Function::kErfc, [](double x) { return std::erfc(x); }, 4},
    {Function::kErfinv, InverseErf, 2, Shape::kMonotone, -1, 1},
    {Function::kNormcdf, [](double x) { return 0.5 * std::erfc(-x / 1.4142135623730951); }, 5},
    {Function::kLgamma, [](double x) { return std::lgamma(x); }, 6, Shape::kOther},
    {Function::kTgamma, [](double x) { return std::tgamma(x); }, 5, Shape::kOther},
    {Function::kCbrt, [](double x) { return std::cbrt(x); }, 1},
    {Function::kAbs, [](double x) { return std::fabs(x); }, 0, Shape::kLipschitz},
    {Function::kFloor, [](double x) { return std::floor(x); }, 0},
    {Function::kCeil, [](double x) { return std::ceil(x); }, 0},
    {Function::kRound, [](double x) { return std::round(x); }, 0},
    {Function::kRint, [](double x) { return std::nearbyint(x); }, 0},
    {Function::kTrunc, [](double x) { return std::trunc(x); }, 0},
    {Function::kSign, [](double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }, 0},
    {Function::kPower, nullptr, 4},
    {Function::kAtan2, nullptr, 3},
    {Function::kHypot, nullptr, 3},
    {Function::kFmod, nullptr, 0},
    {Function::kCopysign, nullptr, 0}};
static_assert(std::size(kReal) == static_cast<size_t>(Function::kFirstInteger));

const RealFacts& FactsOf(Function function) { return kReal[static_cast<size_t>(function)]; }

// NaN differences (of infinities, outside the domain) have no bound.
double Difference(double a, double b) {
  if (a == b) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? kInfinite : difference;
}
double SpreadAtEnds(RealFunction f, double x, double low, double high) {
  const double middle = f(x);
  return std::max(Difference(f(low), middle), Difference(f(high), middle));
}
double SpreadOfReciprocal(double x, double error) {
  const double nearest = std::fabs(x) - error;
  return nearest > 0 ? error / (std::fabs(x) * nearest) : kInfinite;
}
double SpreadOfTan(double x, double error) {
  constexpr double kPi = 3.141592653589793;
  const double period = std::floor(x / kPi + 0.5);
  const bool pole = x - error <= (period - 0.5) * kPi || x + error >= (period + 0.5) * kPi;
  return pole ? kInfinite : SpreadAtEnds(FactsOf(Function::kTan).apply, x, x - error, x + error);
}

}  // namespace

RealFunction FunctionOf(Function function) { return IsInteger(function) ? nullptr : FactsOf(function).apply; }
double UlpsOf(Function function) { return IsInteger(function) ? 0 : FactsOf(function).ulps; }

double Apply(Function function, double x, double y) {
  switch (function) {
    case Function::kPower: return std::pow(x, y);
    case Function::kAtan2: return std::atan2(x, y);
    case Function::kHypot: return std::hypot(x, y);
    case Function::kFmod: return std::fmod(x, y);
    case Function::kCopysign: return std::copysign(x, y);
    default: break;
  }
  const RealFunction apply = FunctionOf(function);
  return apply == nullptr ? std::nan("") : apply(x);
}

int64_t ApplyInteger(Function function, int64_t x, int64_t y) {
  const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  const bool shifts = y >= 0 && y < 64;
  switch (function) {
    case Function::kIntegerDivide: return y == 0 ? 0 : y == -1 ? static_cast<int64_t>(~a + 1) : x / y;
    case Function::kIntegerRemainder: return y == 0 || y == -1 ? 0 : x % y;
    case Function::kShiftLeft: return shifts ? static_cast<int64_t>(a << b) : 0;
    case Function::kShiftRight: return shifts ? x >> y : x < 0 && y > 0 ? -1 : 0;
    case Function::kBitAnd: return static_cast<int64_t>(a & b);
    case Function::kBitOr: return static_cast<int64_t>(a | b);
    case Function::kBitXor: return static_cast<int64_t>(a ^ b);
    case Function::kBitNot: return ~x;
    case Function::kPopulationCount: return std::popcount(static_cast<uint32_t>(a));
    case Function::kLeadingZeros: return std::countl_zero(static_cast<uint32_t>(a));
    case Function::kAbs: return x < 0 ? static_cast<int64_t>(~a + 1) : x;
    case Function::kSign: return (x > 0) - (x < 0);
    default: return x;  // floor, ceil, round, rint, trunc
  }
}

double Spread(Function function, double x, double error) {
  if (error == 0) return 0;
  if (!(error < kInfinite) || IsInteger(function)) return kInfinite;
  const RealFacts& facts = FactsOf(function);
  switch (facts.shape) {
    case Shape::kMonotone:
      return SpreadAtEnds(facts.apply, x, std::max(x - error, facts.low), std::min(x + error, facts.high));
    case Shape::kLipschitz: return function == Function::kAbs ? error : std::min(error, 2.0);
    case Shape::kOther: break;
  }
  if (function == Function::kReciprocal) return SpreadOfReciprocal(x, error);
  if (function == Function::kTan) return SpreadOfTan(x, error);
  if (function == Function::kCosh) {
    const double magnitude = std::fabs(x);
    return SpreadAtEnds(facts.apply, magnitude, std::max(magnitude - error, 0.0), magnitude + error);
  }
  return 2 * SpreadAtEnds(facts.apply, x, x - error, x + error);
}

double Spread(Function function, double x, double y, double x_error, double y_error) {
  if (x_error == 0 && y_error == 0) return 0;
  const double middle = Apply(function, x, y);
  switch (function) {
    case Function::kHypot: return x_error + y_error;
    case Function::kCopysign: return std::fabs(y) > y_error ? x_error : 2 * std::fabs(x) + x_error;
    case Function::kFmod: {
      const double quotient = std::trunc(x / y), nearest = std::fabs(y) - y_error;
      const bool same =
          nearest > 0 && std::trunc((std::fabs(x) + x_error) / nearest) == std::fabs(quotient) &&
          std::trunc(std::max(std::fabs(x) - x_error, 0.0) / (std::fabs(y) + y_error)) == std::fabs(quotient);
      return same ? x_error + std::fabs(quotient) * y_error : std::fabs(y) + y_error + std::fabs(middle);
    }
    case Function::kAtan2: {
      const double radius = std::hypot(x, y) - std::hypot(x_error, y_error);
      return radius > 0 ? std::min(6.3, (x_error + y_error) / radius) : 6.3;
    }
    default: break;
  }
  // A power is monotone in each argument for positive bases; for others only whole exponents have a value.
  if (x - x_error <= 0 && y_error > 0) return kInfinite;
  double spread = x - x_error < 0 && x + x_error > 0 ? std::fabs(middle) : 0;
  for (const double a : {x - x_error, x + x_error})
    for (const double b : {y - y_error, y + y_error})
      spread = std::max(spread, Difference(Apply(function, a, b), middle));
  return spread;
}

}  // namespace warpwright::core
