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

// mma.sync and wmma.mma. The executor's arrays hold the largest shapes.
struct MatrixProduct {
  static constexpr int kMaxRows = 32, kMaxColumns = 32, kMaxDepth = 32;
  MatrixShape shape;
  Type left{}, right{}, addend{};  // of A, B and C; D's is the instruction's
  bool saturate = false;           // .satfinite
};

}  // namespace warpwright::sim
