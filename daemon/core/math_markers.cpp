#include "core/math_markers.h"

#include <cmath>
#include <limits>

namespace warpwright::core {
namespace {

using F = Function;

constexpr MathMarker kMarkers[] = {
    {"exp", F::kExp, 1},       {"exp2", F::kExp2, 1},     {"exp10", F::kExp10, 1},   {"expm1", F::kExpm1, 1},
    {"log", F::kLog, 1},       {"log2", F::kLog2, 1},     {"log10", F::kLog10, 1},   {"log1p", F::kLog1p, 1},
    {"sin", F::kSin, 1},       {"cos", F::kCos, 1},       {"tan", F::kTan, 1},       {"asin", F::kAsin, 1},
    {"acos", F::kAcos, 1},     {"atan", F::kAtan, 1},     {"sinh", F::kSinh, 1},     {"cosh", F::kCosh, 1},
    {"tanh", F::kTanh, 1},     {"asinh", F::kAsinh, 1},   {"acosh", F::kAcosh, 1},   {"atanh", F::kAtanh, 1},
    {"erf", F::kErf, 1},       {"erfc", F::kErfc, 1},     {"erfinv", F::kErfinv, 1}, {"normcdf", F::kNormcdf, 1},
    {"lgamma", F::kLgamma, 1}, {"tgamma", F::kTgamma, 1}, {"cbrt", F::kCbrt, 1},     {"round", F::kRound, 1},
    {"pow", F::kPower, 2},     {"atan2", F::kAtan2, 2},   {"hypot", F::kHypot, 2},   {"fmod", F::kFmod, 2},
};
constexpr std::string_view kPrefix = "ww_call_";

// A first guess by Winitzki, then Newton's steps.
double InverseErf(double x) {
  if (x <= -1 || x >= 1)
    return x == 1    ? std::numeric_limits<double>::infinity()
           : x == -1 ? -std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return x;
  const double l = std::log1p(-x * x), t = 2 / (M_PI * 0.147) + l / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), x);
  for (int i = 0; i < 4; ++i) {
    // Near 1 the difference of the complements keeps its digits.
    const double error = x > 0.5 ? (1 - x) - std::erfc(y) : x < -0.5 ? std::erfc(-y) - (1 + x) : std::erf(y) - x;
    y -= error / (M_2_SQRTPI * std::exp(-y * y));
  }
  return y;
}

}  // namespace

std::span<const MathMarker> MathMarkers() { return kMarkers; }

MarkerCall FindMarkerCall(std::string_view symbol) {
  if (!symbol.starts_with(kPrefix)) return {};
  symbol.remove_prefix(kPrefix.size());
  for (const MathMarker& marker : kMarkers) {
    if (!symbol.starts_with(marker.name)) continue;
    const std::string_view rest = symbol.substr(marker.name.size());
    if (rest.empty() || rest == "f") return {&marker, rest == "f"};
  }
  return {};
}

double CallFunction(Function function, double a, double b) {
  switch (function) {
    case F::kExp: return std::exp(a);
    case F::kExp2: return std::exp2(a);
    case F::kExp10: return ::exp10(a);
    case F::kExpm1: return std::expm1(a);
    case F::kLog: return std::log(a);
    case F::kLog2: return std::log2(a);
    case F::kLog10: return std::log10(a);
    case F::kLog1p: return std::log1p(a);
    case F::kSin: return std::sin(a);
    case F::kCos: return std::cos(a);
    case F::kTan: return std::tan(a);
    case F::kAsin: return std::asin(a);
    case F::kAcos: return std::acos(a);
    case F::kAtan: return std::atan(a);
    case F::kSinh: return std::sinh(a);
    case F::kCosh: return std::cosh(a);
    case F::kTanh: return std::tanh(a);
    case F::kAsinh: return std::asinh(a);
    case F::kAcosh: return std::acosh(a);
    case F::kAtanh: return std::atanh(a);
    case F::kErf: return std::erf(a);
    case F::kErfc: return std::erfc(a);
    case F::kErfinv: return InverseErf(a);
    case F::kNormcdf: return 0.5 * std::erfc(-a * M_SQRT1_2);
    case F::kLgamma: {
      int sign = 0;
      return ::lgamma_r(a, &sign);
    }
    case F::kTgamma: return std::tgamma(a);
    case F::kCbrt: return std::cbrt(a);
    case F::kRound: return std::round(a);
    case F::kPower: return std::pow(a, b);
    case F::kAtan2: return std::atan2(a, b);
    case F::kHypot: return std::hypot(a, b);
    case F::kFmod: return std::fmod(a, b);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace warpwright::core
