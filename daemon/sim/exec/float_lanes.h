// What float handlers share: flushing, saturation, canonical NaN, minima with PTX's rules, 16-bit formats.
#pragma once

#include <cmath>

#include "sim/exec/lanes.h"

namespace warpwright::sim::v3 {

// Subnormals become zero with their sign.
[[gnu::always_inline]] inline float Flush(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return std::bit_cast<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
[[gnu::always_inline]] inline double Flush(double v) { return v; }

// .sat: to [0, 1], NaN to 0.
template <typename T>
[[gnu::always_inline]] inline T Saturate(T v) {
  const T low = v > T(0) ? v : T(0);
  return low < T(1) ? low : T(1);
}

// The NaN that 32-bit arithmetic returns; x86 would propagate an operand's, and generate a negative one of its own.
[[gnu::always_inline]] inline float Canonical(float v) { return v != v ? std::bit_cast<float>(0x7fffffffu) : v; }
[[gnu::always_inline]] inline double Canonical(double v) { return v; }

// Returns the number if the other operand is a NaN; -0 is less than +0.
template <bool kMax, bool kNan, typename T>
[[gnu::always_inline]] inline T MinMaxOf(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const U x = std::bit_cast<U>(a), y = std::bit_cast<U>(b);
  const T equal = std::bit_cast<T>(kMax ? x & y : x | y);
  const T ordered = kMax ? (a > b ? a : b) : (a < b ? a : b);
  T r = a == b ? equal : ordered;
  // NOLINTBEGIN(misc-redundant-expression): what is not itself is no number, which compilers turn into one instruction
  if (kNan) {
    r = a != a ? a : (b != b ? b : r);
  } else {
    r = a != a ? b : (b != b ? a : r);
  }
  // NOLINTEND(misc-redundant-expression)
  return Canonical(r);
}

// Rounded to odd: a later rounding to a shorter format then gives what one rounding would have given.
[[gnu::always_inline]] inline float OddFloat(double v) {
  const float f = static_cast<float>(v);
  auto bits = std::bit_cast<uint32_t>(f);
  const double back = static_cast<double>(f);
  const bool inexact = back != v && v == v;
  const bool too_large = std::fabs(back) > std::fabs(v);
  // If the last bit is even, take the neighbour towards v.
  const uint32_t neighbour = bits + (too_large ? UINT32_MAX : 1u);
  const uint32_t from_zero = (std::bit_cast<uint64_t>(v) >> 63 ? 0x80000000u : 0u) | 1u;
  const uint32_t odd = (bits & 0x7fffffff) == 0 ? from_zero : ((bits & 1) ? bits : neighbour);
  return std::bit_cast<float>(inexact ? odd : bits);
}

// a * b + c, rounded to odd in 53 bits; the product of two 16-bit values is exact.
[[gnu::always_inline]] inline double OddSum(double p, double c) {
  const double s = p + c;
  const double t = s - p;
  const double error = (p - (s - t)) + (c - t);
  const auto bits = std::bit_cast<uint64_t>(s);
  const bool inexact =
      error != 0 && error == error && (bits & 1) == 0 && (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
  const bool outwards = (error > 0) == (s > 0);
  return std::bit_cast<double>(inexact ? bits + (outwards ? 1 : ~0ull) : bits);
}

struct HalfFormat {
  static float ToFloat(uint32_t bits) { return _cvtsh_ss(static_cast<unsigned short>(bits)); }
  static uint32_t FromFloat(float v) {
    return v != v ? 0x7fffu : static_cast<uint32_t>(_cvtss_sh(v, _MM_FROUND_TO_NEAREST_INT));
  }
  static void Load(const uint32_t* lanes, int shift, float* out) {
    for (int k = 0; k < 4; ++k) {
      __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + 8 * k));
      v = _mm256_and_si256(_mm256_srli_epi32(v, shift), _mm256_set1_epi32(0xffff));
      const __m256i packed = _mm256_packus_epi32(v, v);
      const __m128i halves = _mm_unpacklo_epi64(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
      _mm256_storeu_ps(out + 8 * k, _mm256_cvtph_ps(halves));
    }
  }
  static void Store(const float* in, uint32_t* out) {
    for (int k = 0; k < 4; ++k) {
      const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + 8 * k), _MM_FROUND_TO_NEAREST_INT);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * k), _mm256_cvtepu16_epi32(halves));
    }
    WW_LANES out[l] = (out[l] & 0x7fff) > 0x7c00 ? 0x7fff : out[l];
  }
  static constexpr uint32_t kExponent = 0x7c00;
};

struct Bf16Format {
  static float ToFloat(uint32_t bits) { return std::bit_cast<float>(bits << 16); }
  static uint32_t FromFloat(float v) {
    const auto bits = std::bit_cast<uint32_t>(v);
    return v != v ? 0x7fffu : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  }
  static void Load(const uint32_t* lanes, int shift, float* out) {
    WW_LANES out[l] = std::bit_cast<float>((lanes[l] >> shift) << 16);
  }
  static void Store(const float* in, uint32_t* out) { WW_LANES out[l] = FromFloat(in[l]); }
  static constexpr uint32_t kExponent = 0x7f80;
};

// Elementary functions in double precision, written to be vectorised; their error is far below a float's last bit.
[[gnu::always_inline]] inline double Exp2(double x) {
  const double clamped = x < -1000.0 ? -1000.0 : (x > 1000.0 ? 1000.0 : x);
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double shifted = clamped + magic;
  const double f = clamped - (shifted - magic);
  double p = 7.0549116208011233e-9;  // ln(2)^k / k!, from k = 10 down
  p = p * f + 1.0178086009239699e-7;
  p = p * f + 1.3215486790144309e-6;
  p = p * f + 1.5252733804059841e-5;
  p = p * f + 1.5403530393381608e-4;
  p = p * f + 1.3333558146428443e-3;
  p = p * f + 9.6181291076284772e-3;
  p = p * f + 5.5504108664821580e-2;
  p = p * f + 2.4022650695910072e-1;
  p = p * f + 6.9314718055994531e-1;
  p = p * f + 1.0;
  const uint64_t scale = (std::bit_cast<uint64_t>(shifted) << 52) + (1023ull << 52);
  const double r = p * std::bit_cast<double>(scale);
  return x != x ? x : r;
}

}  // namespace warpwright::sim::v3
