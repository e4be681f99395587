// Sums of products as the tensor cores of an H100 and an H200 compute them.
//
// Of floating-point inputs (f16, bf16, tf32: the low 13 bits of a register are ignored) the products are exact. All
// products of an instruction and the element of C are aligned to the largest exponent among them, where a product has
// the sum of its factors' exponents, whether or not its significand reaches 2, and a zero has f32's smallest. Each is
// then cut off 25 bits below that exponent; what remains is summed exactly. An f32 result is cut off too, an f16 result
// rounded to nearest; a NaN is the canonical one, and a zero is positive. So an instruction rounds once for each term,
// always towards zero, and the order of its terms does not matter.
//
// Sources: Khattak and Mikaitis 2025, "Accurate Models of NVIDIA Tensor Cores"; Xie et al. 2025, "MMA-Sim";
// tests/golden/sim/matrix_products.txt holds what the hardware gave.
#pragma once

#include "sim/exec/float_lanes.h"

namespace warpwright::sim::v3 {

inline constexpr int kRows = MatrixProduct::kMaxRows, kColumns = MatrixProduct::kMaxColumns,
                     kDepth = MatrixProduct::kMaxDepth;
inline constexpr int kFraction = 25;         // bits that a term keeps below the largest exponent
inline constexpr int kZeroExponent = -4096;  // of a factor: a zero product never decides what the others are aligned to

// Values with the exponents that they are aligned by.
template <int kFirst, int kSecond>
struct Reals {
  alignas(64) double value[kFirst][kSecond];
  alignas(64) int32_t exponent[kFirst][kSecond];
  bool finite = true;
};

struct Real {
  double value;
  int32_t exponent;
  bool finite;
};
template <Type kType>
[[gnu::always_inline]] inline Real Decode(uint32_t bits) {
  if constexpr (kType == Type::kF16) {
    const auto e = static_cast<int32_t>(bits >> 10 & 31);
    const bool zero = (bits & 0x7fff) == 0;
    return {static_cast<double>(HalfFormat::ToFloat(bits)), zero ? kZeroExponent : (e > 1 ? e : 1) - 15, e != 31};
  } else {
    const uint32_t word = kType == Type::kBf16 ? bits << 16 : kType == Type::kTf32 ? bits & 0xffffe000 : bits;
    const auto e = static_cast<int32_t>(word >> 23 & 255);
    const bool zero = (word & 0x7fffffff) == 0;
    return {static_cast<double>(std::bit_cast<float>(word)), zero ? kZeroExponent : (e > 1 ? e : 1) - 127, e != 255};
  }
}

template <typename Out, typename Place>
[[gnu::always_inline]] inline void Spread(Out& out, const Real& real, const Place& place) {
  out.value[place.row][place.column] = real.value;
  out.exponent[place.row][place.column] = real.exponent;
  out.finite &= real.finite;
}

template <Type kType, typename Out, typename PlaceOf>
[[gnu::always_inline]] inline void ReadFragment(Context& c, const Instruction* i, int first, int registers, Out& out,
                                                PlaceOf place_of) {
  constexpr int kPacked = kType == Type::kF16 || kType == Type::kBf16 ? 2 : 1;
  for (int reg = 0; reg < registers; ++reg) {
    const uint32_t* r = Reg<uint32_t>(c, i->reg[first + reg]);
    for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
      for (int part = 0; part < kPacked; ++part) {
        const uint32_t bits = kPacked == 2 ? r[lane] >> (16 * part) & 0xffff : r[lane];
        Spread(out, Decode<kType>(bits), place_of(reg, lane, part));
      }
  }
}

// Towards zero; beyond the largest float it is infinite.
inline uint32_t CutOffToSingle(double v) {
  const double magnitude = std::fabs(v);
  const double cut = magnitude < 0x1p-126 ? __builtin_trunc(v * 0x1p149) * 0x1p-149
                                          : std::bit_cast<double>(std::bit_cast<uint64_t>(v) & ~((1ull << 29) - 1));
  return std::bit_cast<uint32_t>(static_cast<float>(cut));
}
template <Type kSum>
[[gnu::always_inline]] inline uint32_t Round(double v) {
  uint32_t bits = v != v ? 0x7fffffffu : 0;
  if constexpr (kSum == Type::kF16) bits = HalfFormat::FromFloat(OddFloat(v));
  else if (v == v) bits = CutOffToSingle(v);
  constexpr uint32_t kMinusZero = kSum == Type::kF16 ? 0x8000 : 0x80000000;
  return bits == kMinusZero ? 0 : bits;
}

[[gnu::always_inline]] inline int32_t Larger(int32_t a, int32_t b) { return a > b ? a : b; }

inline double PowerOfTwo(int64_t exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

using Left = Reals<kRows, kDepth>;
using Right = Reals<kDepth, kColumns>;
using Sums = Reals<kRows, kColumns>;

// Eight columns of one row, into sums.value.
inline void SumRow(const Left& a, const Right& b, Sums& sums, int row, int column, int first, int depth) {
  constexpr int kWide = 8;
  alignas(64) int32_t largest[kWide];
  alignas(64) double scale[kWide], sum[kWide];
  for (int j = 0; j < kWide; ++j) largest[j] = Larger(sums.exponent[row][column + j], -126);
  for (int k = first; k < first + depth; ++k) {
    const int32_t e = a.exponent[row][k];
    for (int j = 0; j < kWide; ++j) largest[j] = Larger(largest[j], e + b.exponent[k][column + j]);
  }
  for (int j = 0; j < kWide; ++j) {
    scale[j] = PowerOfTwo(kFraction - int64_t{largest[j]});
    sum[j] = __builtin_trunc(sums.value[row][column + j] * scale[j]);
  }
  for (int k = first; k < first + depth; ++k) {
    const double v = a.value[row][k];
    for (int j = 0; j < kWide; ++j) sum[j] += __builtin_trunc(v * b.value[k][column + j] * scale[j]);
  }
  for (int j = 0; j < kWide; ++j) sums.value[row][column + j] = sum[j] * PowerOfTwo(int64_t{largest[j]} - kFraction);
}

// What the next of several instructions gets as C.
inline void RoundRow(Sums& sums, int row, int column) {
  for (int j = 0; j < 8; ++j) {
    const Real real = Decode<Type::kF32>(CutOffToSingle(sums.value[row][column + j]));
    sums.value[row][column + j] = real.value;
    sums.exponent[row][column + j] = real.exponent;
  }
}

// With infinities and NaNs among the inputs.
inline double SpecialSum(const Left& a, const Right& b, double addend, int row, int column, int depth, bool& special) {
  double sum = addend;
  special = !(std::fabs(addend) <= 0x1.fffffep127);
  for (int k = 0; k < depth; ++k) {
    const double x = a.value[row][k], y = b.value[k][column];
    special |= !(std::fabs(x) <= 0x1.fffffep127) || !(std::fabs(y) <= 0x1.fffffep127);
    sum += x * y;
  }
  return sum;
}

}  // namespace warpwright::sim::v3
