// Shapes of a contraction's tiles, and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "schedule/contraction_group.h"

namespace warpwright::schedule {

// Results of a block, terms of a step, and the block's warps.
struct TileShape {
  std::string_view name;
  int m = 0, n = 0, k = 0;
  int warps_m = 0, warps_n = 0;
  int blocks = 1;         // that should fit on a multiprocessor, so that one computes while another waits
  double efficiency = 0;  // of a block's multiplications, as a share of the peak

  int threads() const { return warps_m * warps_n * 32; }
  int warp_m() const { return m / warps_m; }
  int warp_n() const { return n / warps_n; }
};

// The number of all combinations; 0 where a size cannot be evaluated.
double CountOf(const std::vector<Axis>& axes, const core::ScheduledCase& c);

const TileShape* FindTileShape(std::span<const TileShape> shapes, std::string_view name);  // nullptr: there is none
const TileShape& TileShapeOf(std::span<const TileShape> shapes, std::string_view name);    // std::out_of_range
// The shape with the shortest time over the cases: whole waves of blocks, each at its efficiency.
const TileShape& BestTileShape(std::span<const TileShape> shapes, const Problem& problem,
                               const ContractionGroup& group);

}  // namespace warpwright::schedule
