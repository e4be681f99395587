#include "sim/time_model.h"

#include <gtest/gtest.h>

#include "config/chip_file.h"
#include "core/occupancy.h"

namespace warpwright::sim {
namespace {

class TimeModel : public testing::Test {
 protected:
  // A copy of `bytes` with full occupancy: each thread loads and stores `width` bytes.
  TimeInputs Copy(uint64_t bytes, uint64_t width, int registers = 32) {
    TimeInputs inputs;
    inputs.threads_per_block = 256;
    inputs.blocks = bytes / (256 * width);
    inputs.occupancy = core::ComputeOccupancy(chip_, {256, registers, 0}, inputs.blocks);
    core::Counters& c = inputs.counters;
    const uint64_t warps = inputs.blocks * 8;
    c.global_load_requests = c.global_store_requests = warps;
    c.global_load_sectors = c.global_store_sectors = c.l1_miss_sectors = bytes / 32;
    inputs.traffic = {2 * warps * width / 4, bytes / 32, bytes / 128 * 20};
    c.l2_read_bytes = c.l2_write_bytes = c.dram_read_bytes = c.dram_write_bytes = bytes;
    const auto w = static_cast<double>(warps);
    inputs.work.issue = 12 * w;
    inputs.work.integer = 6 * w;
    inputs.work.path_cycles = w * (60 + LoadCycles(chip_, 0, 0, 1, static_cast<double>(width)));
    return inputs;
  }
  double Total(const TimeInputs& inputs) { return ModelTime(chip_, inputs).total_us; }

  core::Chip chip_ = *config::LoadChip("h200");
};

TEST_F(TimeModel, ALargeCopyRunsNearDramBandwidth) {
  const TimeInputs inputs = Copy(uint64_t{1} << 30, 16);
  const core::TimeBreakdown time = ModelTime(chip_, inputs);
  const double floor_us = 2.0 * (1 << 30) / chip_.dram_bytes_per_second * 1e6;
  EXPECT_EQ(time.limiter, "dram");
  EXPECT_GE(time.total_us, floor_us);
  EXPECT_LT(time.total_us, 1.1 * floor_us);
  EXPECT_DOUBLE_EQ(time.dram_us, floor_us);
}

TEST_F(TimeModel, WideLoadsAreBetterAtLowOccupancy) {
  const uint64_t bytes = uint64_t{1} << 28;
  const double scalar = Total(Copy(bytes, 4)), vector = Total(Copy(bytes, 16));
  EXPECT_LT(vector, scalar);
  EXPECT_LT(scalar, 2 * vector);
  const double scalar_low = Total(Copy(bytes, 4, 128)), vector_low = Total(Copy(bytes, 16, 128));
  EXPECT_GT(scalar_low / vector_low, scalar / vector);
}

TEST_F(TimeModel, OverheadDominatesTinyKernels) {
  const core::TimeBreakdown time = ModelTime(chip_, Copy(4096, 4));
  EXPECT_EQ(time.limiter, "overhead");
  EXPECT_LT(time.total_us, chip_.launch_overhead_us + 2);
}

TEST_F(TimeModel, WaveQuantisation) {
  TimeInputs inputs = Copy(uint64_t{132} * 8 * 256 * 16, 16);  // exactly one wave
  inputs.work.issue *= 1000;
  const double one_wave = Total(inputs);
  inputs.blocks += 1;  // one block more needs another round on one multiprocessor
  EXPECT_GT(Total(inputs), 1.1 * one_wave);
}

TEST_F(TimeModel, BankConflictsAndSlowUnitsHurt) {
  TimeInputs inputs = Copy(uint64_t{1} << 24, 4);
  const double base = Total(inputs);
  TimeInputs conflicts = inputs;
  conflicts.counters.shared_wavefronts = 32 * inputs.blocks * 8 * 4;
  EXPECT_GT(Total(conflicts), 1.5 * base);
  EXPECT_EQ(ModelTime(chip_, conflicts).limiter, "shared");
  TimeInputs doubles = inputs;
  doubles.work.fp64 = 1000.0 * static_cast<double>(inputs.blocks);
  const double on_h200 = Total(doubles);
  chip_.fp64_lanes = 2;
  EXPECT_GT(Total(doubles), 3 * on_h200);
}

// Two phases that need different units: one after the other while all blocks do the same, simultaneously if the blocks
// of many waves are spread over both.
TEST_F(TimeModel, PhasesOfBlocksInStepFollowEachOther) {
  const auto total = [&](uint64_t blocks) {
    TimeInputs inputs;
    inputs.threads_per_block = 256;
    inputs.blocks = blocks;
    inputs.occupancy = core::ComputeOccupancy(chip_, {256, 32, 0}, blocks);
    inputs.counters.dram_read_bytes = blocks << 20;
    Work load, compute;
    load.dram_sectors = load.l2_sectors = load.load_sectors = static_cast<double>(inputs.counters.dram_read_bytes) / 32;
    compute.sfu = static_cast<double>(blocks) * 36'000;  // as long as the loads
    inputs.phases = {load, compute};
    inputs.work.Add(load, 1);
    inputs.work.Add(compute, 1);
    const core::TimeBreakdown time = ModelTime(chip_, inputs);
    EXPECT_NEAR(time.sfu_us / time.dram_us, 1.1, 0.2);
    return (time.total_us - chip_.launch_overhead_us) / time.sfu_us;
  };
  EXPECT_GT(total(8 * 132), 1.7);
  EXPECT_LT(total(100 * 8 * 132), 1.4);
}

// A latency as long as the transfer itself is not hidden behind it: loads wait longer when memory is busy.
TEST_F(TimeModel, LoadsQueueInABusyMemory) {
  TimeInputs inputs = Copy(uint64_t{1} << 26, 16);
  const double dram_us = ModelTime(chip_, inputs).dram_us;
  inputs.work.path_cycles *= dram_us / ModelTime(chip_, inputs).latency_us;
  const double idle = Total(inputs);
  inputs.work.dram_cycles = inputs.work.path_cycles;
  EXPECT_NEAR(Total(inputs) / idle, 1.6, 0.1);
  chip_.dram_queue_ns = 0;
  EXPECT_DOUBLE_EQ(Total(inputs), idle);
}

// Every part may only increase with its counts.
TEST_F(TimeModel, IsMonotonic) {
  const TimeInputs inputs = Copy(uint64_t{1} << 24, 4);
  const double base = Total(inputs);
  for (uint64_t core::Counters::* field :
       {&core::Counters::dram_read_bytes, &core::Counters::dram_write_bytes, &core::Counters::l2_read_bytes,
        &core::Counters::l2_write_bytes, &core::Counters::l1_hit_sectors, &core::Counters::shared_wavefronts}) {
    TimeInputs more = inputs;
    more.counters.*field += 1 << 30;
    EXPECT_GT(Total(more), base);
  }
  for (double Work::* field : {&Work::issue, &Work::fp32, &Work::fp64, &Work::fp16, &Work::integer, &Work::sfu,
                               &Work::conversion, &Work::shuffle, &Work::path_cycles}) {
    TimeInputs more = inputs;
    more.work.*field += 1e9;
    EXPECT_GT(Total(more), base);
  }
  for (uint64_t Traffic::* field :
       {&Traffic::l1_tags, &Traffic::l2_read_slots, &Traffic::l2_write_slots, &Traffic::l2_atomic_slots}) {
    TimeInputs more = inputs;
    more.traffic.*field += 1 << 26;
    EXPECT_GT(Total(more), base);
  }
  TimeInputs hot = inputs;
  hot.hottest_atomics = 1 << 20;
  EXPECT_GT(Total(hot), base);
}

TEST_F(TimeModel, PartsNeverExceedTheTotal) {
  const core::TimeBreakdown t = ModelTime(chip_, Copy(uint64_t{1} << 26, 4));
  for (double part : {t.dram_us, t.l2_us, t.l1_us, t.shared_us, t.issue_us, t.fp32_us, t.fp64_us, t.fp16_us,
                      t.integer_us, t.sfu_us, t.latency_us, t.atomic_us, t.overhead_us})
    EXPECT_LE(part, t.total_us);
}

TEST_F(TimeModel, EmptyGrid) { EXPECT_EQ(Total(TimeInputs{}), chip_.launch_overhead_us); }

TEST_F(TimeModel, LoadsWaitByLevel) {
  const double l1 = LoadCycles(chip_, 1, 0, 0, 4), l2 = LoadCycles(chip_, 0, 1, 0, 4),
               dram = LoadCycles(chip_, 0, 0, 1, 4);
  EXPECT_EQ(l1, chip_.l1_latency_cycles);
  EXPECT_LT(l1, l2);
  EXPECT_LT(l2, dram);
  EXPECT_DOUBLE_EQ(LoadCycles(chip_, 1, 1, 2, 4), (l1 + l2 + 2 * dram) / 4);
  EXPECT_GT(LoadCycles(chip_, 0, 1, 0, 32), l2);
  EXPECT_EQ(LoadCycles(chip_, 0, 0, 0, 0), chip_.shared_latency_cycles);
}

}  // namespace
}  // namespace warpwright::sim
