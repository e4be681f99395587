// The tiles of a contraction's kernel: shapes, and which threads hold what.
#pragma once

#include <array>
#include <string_view>

#include "schedule/contraction_group.h"

namespace warpwright::schedule {

// Results of a block, terms of a step, and the block's warps. A lane holds squares of 4 x 4 results; a warp's lanes, 4
// by 8 of them, read a row of both tiles without bank conflicts.
struct TileShape {
  std::string_view name;
  int m = 0, n = 0, k = 0;
  int warps_m = 0, warps_n = 0;
  double efficiency = 0;  // of a block's multiplications, as a share of the peak; measured

  int threads() const { return warps_m * warps_n * 32; }
  int squares_m() const { return m / warps_m / (4 * kLanesM); }
  int squares_n() const { return n / warps_n / (4 * kLanesN); }
  static constexpr int kLanesM = 4, kLanesN = 8;
};

inline constexpr std::array<TileShape, 4> kTileShapes = {{
    {"128x128", 128, 128, 16, 4, 2, 0.80},
    {"128x32", 128, 32, 16, 4, 1, 0.55},
    {"32x128", 32, 128, 16, 1, 4, 0.55},
    {"32x32", 32, 32, 32, 2, 1, 0.35},
}};
const TileShape& TileShapeOf(std::string_view name);  // std::out_of_range

// The shape with the shortest time over the cases: whole waves of blocks, each at its efficiency.
const TileShape& BestTileShape(const Problem& problem, const ContractionGroup& group);

}  // namespace warpwright::schedule
