#include "judge/drawn_numbers.h"

#include <array>
#include <bit>
#include <cmath>

namespace warpwright::judge {
namespace {

// ln x of a positive normal number: x = m 2^e with m near 1, ln m = 2 artanh((m-1)/(m+1)) by its series. Error below
// 1e-14.
double Log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 1.0 / 19;
  for (int k = 17; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  return 2 * s * series + exponent * 0.6931471805599453;
}

// Inverse of the normal distribution function, P. J. Acklam's rational approximation (relative error 1.2e-9). Not that
// of Boost.Math: recorded references depend on every bit of it, and must not change with a library version.
constexpr double kTail = 0.02425;
bool IsInTail(double p) { return !(p >= kTail && p <= 1 - kTail); }
inline double InverseNormalOfMiddle(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}
double InverseNormalOfTail(double p) {
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  const double q = std::sqrt(-2 * Log(p < 0.5 ? p : 1 - p));
  const double tail = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                      ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  return p < 0.5 ? tail : -tail;
}
double InverseNormal(double p) { return IsInTail(p) ? InverseNormalOfTail(p) : InverseNormalOfMiddle(p); }

// The compiler makes vectors of this loop: without fused products, which would give other bits, and of whole blocks
// only.
constexpr size_t kVectors = 64;
__attribute__((target_clones("avx2", "default"))) void InverseNormalsOfMiddle(const double* p, double* values) {
  for (size_t k = 0; k < kVectors; ++k) values[k] = InverseNormalOfMiddle(p[k]);
}

double ProbabilityAt(const base::CounterRandom& random, uint64_t i) { return random.Uniform(i) + 0x1.0p-54; }

}  // namespace

double Exp(double x) {
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = x - k * 0.6931471805599453;
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + sum * r / i;
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + static_cast<int>(k)) << 52) * sum;
}

double NormalAt(const base::CounterRandom& random, uint64_t i) { return InverseNormal(ProbabilityAt(random, i)); }
void NormalsAt(const base::CounterRandom& random, uint64_t first, std::span<double> values) {
  size_t k = 0;
  for (; k + kVectors <= values.size(); k += kVectors) {
    std::array<double, kVectors> p;
    for (size_t i = 0; i < kVectors; ++i) p[i] = ProbabilityAt(random, first + k + i);
    InverseNormalsOfMiddle(p.data(), values.data() + k);
    for (size_t i = 0; i < kVectors; ++i)
      if (IsInTail(p[i])) values[k + i] = InverseNormalOfTail(p[i]);
  }
  for (; k < values.size(); ++k) values[k] = NormalAt(random, first + k);
}
double SignAt(const base::CounterRandom& random, uint64_t i) { return (random.Bits(i) & 1) != 0 ? -1.0 : 1.0; }
double ParetoAt(const base::CounterRandom& random, uint64_t i, double alpha) {
  return Exp(-Log(1 - random.Uniform(i)) / alpha);
}

}  // namespace warpwright::judge
