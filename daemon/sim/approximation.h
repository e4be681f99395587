// How far the hardware's approximations are from what they stand for: by what a candidate that uses them is judged
// where there is no hardware. exp2 and roots are within an ulp or two, and are not modelled; nor is log2 but near one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace warpwright::sim {

// Of sine and cosine, the angle: the hardware takes turns, of which it keeps as many bits as f32 has, so that many
// turns lose as many bits of the rest (CUDA C++ Programming Guide, intrinsic functions, __sinf and __cosf).
[[gnu::always_inline]] inline double AngleOfTurns(double x) {
  return static_cast<double>(static_cast<float>(x) * 0.15915494309189535f) * 6.283185307179586;
}

// Of the binary logarithm of numbers between a half and two: its absolute error is 2^-22 there, near one, where it is
// small, many times its value's ulp (PTX ISA, lg2.approx).
[[gnu::always_inline]] inline double NearOne(double log2) {
  const double magic = 6755399441055744.0 / 4194304;  // 1.5 * 2^52 / 2^22
  return log2 > -1 && log2 < 1 ? (log2 + magic) - magic : log2;
}

// Of the hyperbolic tangent, eleven bits, as its relative error of 2^-11 says (PTX ISA, tanh.approx).
[[gnu::always_inline]] inline double ToElevenBits(double x) {
  constexpr uint64_t kHalf = uint64_t{1} << 41;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(x) + kHalf) & ~(2 * kHalf - 1));
}

}  // namespace warpwright::sim
