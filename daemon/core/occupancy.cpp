#include "core/occupancy.h"

#include <algorithm>
#include <cmath>

namespace warpwright::core {

namespace {

int RoundedUp(int value, int unit) { return (value + unit - 1) / unit * unit; }

int BlocksByRegisters(const Chip& chip, const BlockNeeds& needs, int warps_per_block) {
  const int per_warp = RoundedUp(std::max(needs.registers_per_thread, 1) * 32, chip.register_allocation_unit);
  const int warps_per_scheduler =
      chip.registers / chip.warp_schedulers / per_warp;  // each scheduler owns its share of the register file
  return warps_per_scheduler * chip.warp_schedulers / warps_per_block;
}

int BlocksByShared(const Chip& chip, const BlockNeeds& needs) {
  const int64_t bytes = static_cast<int64_t>(needs.shared_bytes) + chip.shared_bytes_reserved_per_block;
  const int64_t allocated =
      (bytes + chip.shared_allocation_unit - 1) / chip.shared_allocation_unit * chip.shared_allocation_unit;
  if (needs.shared_bytes > static_cast<uint32_t>(chip.shared_bytes_per_block_optin)) return 0;
  return allocated > 0 ? static_cast<int>(chip.shared_bytes / allocated) : chip.max_blocks;
}

}  // namespace

std::string_view Name(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::kUnknown: return "";
    case OccupancyLimiter::kWarps: return "warps";
    case OccupancyLimiter::kRegisters: return "registers";
    case OccupancyLimiter::kSharedMemory: return "shared memory";
    case OccupancyLimiter::kBlocks: return "blocks";
    case OccupancyLimiter::kGrid: return "grid";
  }
  return "";
}

Occupancy ComputeOccupancy(const Chip& chip, const BlockNeeds& needs, uint64_t blocks) {
  const int warps_per_block = std::max(1, (needs.threads + 31) / 32);
  const std::pair<OccupancyLimiter, int> limits[] = {
      {OccupancyLimiter::kWarps, chip.max_warps / warps_per_block},
      {OccupancyLimiter::kRegisters, BlocksByRegisters(chip, needs, warps_per_block)},
      {OccupancyLimiter::kSharedMemory, BlocksByShared(chip, needs)},
      {OccupancyLimiter::kBlocks, chip.max_blocks}};
  Occupancy occupancy;
  const auto* least =
      std::min_element(std::begin(limits), std::end(limits), [](auto& a, auto& b) { return a.second < b.second; });
  occupancy.limiter = least->first;
  occupancy.blocks_per_multiprocessor = least->second;
  if (least->second == 0 || blocks == 0) return occupancy;
  occupancy.theoretical = static_cast<double>(least->second * warps_per_block) / chip.max_warps;
  const double per_wave = static_cast<double>(least->second) * chip.multiprocessors;
  occupancy.waves = static_cast<double>(blocks) / per_wave;
  occupancy.achieved = occupancy.theoretical * occupancy.waves / std::ceil(occupancy.waves);
  if (occupancy.waves < 1) occupancy.limiter = OccupancyLimiter::kGrid;
  return occupancy;
}

}  // namespace warpwright::core
