// Tiles of a contraction on the tensor cores of H100 and H200, for builds for these alone (sm_90a).
#pragma once

#include <optional>
#include <span>

#include "schedule/contraction_group.h"
#include "schedule/contraction_tile.h"

namespace warpwright::schedule {

bool HasWarpgroupProducts(const core::Chip& chip);
std::span<const TileShape> WarpgroupShapes();
// None: a factor cannot be copied as it is.
std::optional<CodeOutcome> WriteWarpgroupTiles(const Problem& problem, const Group& group,
                                               const ContractionGroup& contraction, const TileShape& shape,
                                               Padding padding);

}  // namespace warpwright::schedule
