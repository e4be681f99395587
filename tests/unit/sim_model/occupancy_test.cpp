// Compared with NVIDIA's calculator, cuda_occupancy.h of the toolkit.
#include "core/occupancy.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include "config/chip_file.h"

namespace warpwright::sim {
namespace {

cudaOccDeviceProp Properties(const core::Chip& chip) {
  cudaOccDeviceProp properties;
  properties.computeMajor = chip.arch[3] - '0';
  properties.computeMinor = chip.arch[4] - '0';
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = chip.max_warps * 32;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = chip.registers;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 << 10;
  properties.sharedMemPerMultiprocessor = static_cast<size_t>(chip.shared_bytes);
  properties.numSms = chip.multiprocessors;
  properties.sharedMemPerBlockOptin = static_cast<size_t>(chip.shared_bytes_per_block_optin);
  properties.reservedSharedMemPerBlock = static_cast<size_t>(chip.shared_bytes_reserved_per_block);
  return properties;
}

int CudaBlocks(const core::Chip& chip, const core::BlockNeeds& needs) {
  const cudaOccDeviceProp properties = Properties(chip);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = 1024;
  attributes.numRegs = needs.registers_per_thread;
  attributes.sharedSizeBytes = 0;
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(chip.shared_bytes_per_block_optin);
  cudaOccDeviceState state;
  state.cacheConfig = CACHE_PREFER_SHARED;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                                     needs.threads, needs.shared_bytes);
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

TEST(Occupancy, EqualsTheCudaCalculator) {
  int compared = 0;
  for (const std::string& id : config::ChipIds()) {
    const core::Chip chip = *config::LoadChip(id);
    for (int threads : {1, 32, 33, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024})
      for (int registers : {16, 24, 32, 40, 41, 64, 72, 96, 128, 168, 255})
        for (uint32_t shared :
             {0u, 1u, 1024u, 4096u, 12345u, 16384u, 33000u, 49152u, 65536u, 99u << 10, 163u << 10, 227u << 10}) {
          if (shared > static_cast<uint32_t>(chip.shared_bytes_per_block_optin)) continue;
          const core::BlockNeeds needs{threads, registers, shared};
          EXPECT_EQ(core::ComputeOccupancy(chip, needs, 1 << 20).blocks_per_multiprocessor, CudaBlocks(chip, needs))
              << id << " threads " << threads << " registers " << registers << " shared " << shared;
          ++compared;
        }
  }
  EXPECT_GT(compared, 5000);
}

TEST(Occupancy, KnownValuesAndLimiters) {
  const core::Chip h200 = *config::LoadChip("h200"), ada = *config::LoadChip("rtx4090");
  struct Row {
    const core::Chip& chip;
    core::BlockNeeds needs;
    int blocks;
    double theoretical;
    core::OccupancyLimiter limiter;
  };
  const Row rows[] = {{h200, {256, 32, 0}, 8, 1.0, core::OccupancyLimiter::kWarps},
                      {h200, {256, 64, 0}, 4, 0.5, core::OccupancyLimiter::kRegisters},
                      {h200, {32, 32, 0}, 32, 0.5, core::OccupancyLimiter::kBlocks},
                      {h200, {128, 32, 48 << 10}, 4, 0.25, core::OccupancyLimiter::kSharedMemory},
                      {ada, {512, 32, 0}, 3, 1.0, core::OccupancyLimiter::kWarps},  // 1,536 threads
                      {ada, {1024, 32, 0}, 1, 1024.0 / 1536, core::OccupancyLimiter::kWarps},
                      {ada, {256, 40, 0}, 6, 1.0, core::OccupancyLimiter::kWarps}};
  for (const Row& row : rows) {
    const core::Occupancy occupancy = core::ComputeOccupancy(row.chip, row.needs, 1 << 20);
    EXPECT_EQ(occupancy.blocks_per_multiprocessor, row.blocks);
    EXPECT_DOUBLE_EQ(occupancy.theoretical, row.theoretical);
    EXPECT_EQ(occupancy.limiter, row.limiter);
  }
}

TEST(Occupancy, SmallGridsAndTails) {
  const core::Chip h200 = *config::LoadChip("h200");
  const core::BlockNeeds needs{256, 32, 0};  // 8 resident, 1,056 per wave
  EXPECT_EQ(core::ComputeOccupancy(h200, needs, 132).limiter, core::OccupancyLimiter::kGrid);
  EXPECT_DOUBLE_EQ(core::ComputeOccupancy(h200, needs, 132).achieved, 1.0 / 8);
  EXPECT_DOUBLE_EQ(core::ComputeOccupancy(h200, needs, 1056).achieved, 1.0);
  EXPECT_DOUBLE_EQ(core::ComputeOccupancy(h200, needs, 1057).achieved, 1057.0 / 2112);
  EXPECT_DOUBLE_EQ(core::ComputeOccupancy(h200, needs, 1056).waves, 1.0);
}

TEST(Occupancy, NothingFits) {
  const core::Chip l4 = *config::LoadChip("l4");
  EXPECT_EQ(core::ComputeOccupancy(l4, {1024, 128, 0}, 1).blocks_per_multiprocessor, 0);
  EXPECT_EQ(core::ComputeOccupancy(l4, {1024, 128, 0}, 1).limiter, core::OccupancyLimiter::kRegisters);
  EXPECT_EQ(core::ComputeOccupancy(l4, {32, 32, 100 << 10}, 1).limiter, core::OccupancyLimiter::kSharedMemory);
}

}  // namespace
}  // namespace warpwright::sim
