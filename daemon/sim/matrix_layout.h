// Products of matrices on tensor cores: their shapes, and which lane holds which element in which register.
//
// mma.sync's layouts are the PTX ISA's. Those of wmma are not documented; they are composed here of mma's, as ptxas
// does since sm_80: a fragment of 16 columns is two of 8, one of 32 rows is two of 16. Fragments of f16 inputs have
// twice the registers that their elements need; the second half repeats the first.
#pragma once

#include <cstdint>

namespace warpwright::sim {

enum class Type : uint8_t;

struct MatrixShape {
  int m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;
};

struct MatrixPlace {
  int row = 0, column = 0;
};

// `packed`: elements in one register, 1, 2 or 4. Eight rows and 4 * packed of the common dimension are one register.
constexpr int LeftRegisters(const MatrixShape& s, int packed) { return s.m / 8 * (s.k / (4 * packed)); }
constexpr int RightRegisters(const MatrixShape& s, int packed) { return s.n / 8 * (s.k / (4 * packed)); }
constexpr int SumRegisters(const MatrixShape& s, int packed) { return s.m / 8 * (s.n / 8) * 2 / packed; }

// Of A: its row, and its place in the common dimension.
constexpr MatrixPlace LeftPlace(const MatrixShape& s, int packed, int reg, int lane, int part) {
  const int halves = s.m >= 16 ? 2 : 1, per_group = halves * (s.k / (4 * packed));
  const int within = reg % per_group;
  return {16 * (reg / per_group) + 8 * (within % halves) + lane / 4,
          (within / halves) * 4 * packed + lane % 4 * packed + part};
}
// Of B: its place in the common dimension, and its column.
constexpr MatrixPlace RightPlace(const MatrixShape& s, int packed, int reg, int lane, int part) {
  const int steps = s.k / (4 * packed);
  return {reg % steps * 4 * packed + lane % 4 * packed + part, 8 * (reg / steps) + lane / 4};
}
// Of C and D.
constexpr MatrixPlace SumPlace(const MatrixShape& s, int packed, int reg, int lane, int part) {
  const int halves = s.m >= 16 ? 2 : 1, per_tile = 2 * halves, tiles = s.n / 8;
  const int element = reg * packed + part, tile = element / per_tile, within = element % per_tile;
  return {16 * (tile / tiles) + 8 * (within / 2) + lane / 4, 8 * (tile % tiles) + 2 * (lane % 4) + within % 2};
}

// mma.sync and wmma.mma, and a warp's 16 rows of wgmma.mma_async. The executor's arrays hold the largest shapes of the
// former, and take the latter 32 columns at a time.
struct MatrixProduct {
  static constexpr int kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 32;
  MatrixShape shape;
  Type left{}, right{}, addend{};  // of A, B and C; D's is the instruction's
  bool saturate = false;           // .satfinite
  // wgmma: where A is; whether rows of A and columns of B are neighbours in shared memory, not terms; signs.
  bool left_in_registers = false, left_across = false, right_across = false, minus_left = false, minus_right = false;
};

// What a wgmma descriptor says of a matrix in shared memory: two groups of 8 terms, of 16 bytes for each row, or of 8
// rows (`across`), where rows are those of A and columns of B. Without swizzle `leading` is the distance of groups of
// terms and `stride` that of groups of 8 rows. With one, of `swizzle` bytes, eight neighbours along the other axis are
// rows of that many bytes, in which the places of 16 bytes are exchanged by three bits of the address; `stride` is the
// distance of such eights, and across, `leading` that of panels of `swizzle` bytes.
struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0, swizzle = 0, base_offset = 0;

  static constexpr MatrixDescriptor Of(uint64_t bits) {
    constexpr uint32_t kSwizzles[] = {0, 128, 64, 32};
    return {.start = static_cast<uint32_t>(bits & 0x3fff) << 4,
            .leading = static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4,
            .stride = static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4,
            .swizzle = kSwizzles[bits >> 62],
            .base_offset = static_cast<uint32_t>(bits >> 49 & 7)};
  }
  // Of the 16 bytes with eight terms of a row, or, across, with a term of eight rows: `row` and `term` are the first.
  constexpr uint32_t OffsetOf(bool across, uint32_t row, uint32_t term) const {
    if (swizzle == 0) return start + row / 8 * stride + term / 8 * leading + (across ? term % 8 : row % 8) * 16;
    const uint32_t rows = swizzle / 2;  // of a panel
    const uint32_t at = across ? start + row / rows * leading + term / 8 * stride + term % 8 * swizzle + row % rows * 2
                               : start + row / 8 * stride + row % 8 * swizzle + term * 2;
    return at ^ (at >> 3 & (swizzle - 16));
  }
};

}  // namespace warpwright::sim
