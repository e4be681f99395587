// The modelled time of one launch.
//
// Notation: B blocks (that work), S multiprocessors, R resident blocks per multiprocessor, f the clock, W(u) the warp instructions
// of unit u over the whole grid, as machine code (cost_model.h). The busiest multiprocessor gets ceil(B / S) of the B
// blocks, so everything that is bound to a multiprocessor takes its average share times
//     q = ceil(B / S) / B                                   (1/S for large grids: wave quantisation)
//
// Throughput parts, in cycles of one multiprocessor unless bytes are divided by a bandwidth of the chip:
//     dram    (read + written bytes) / dram_bytes_per_second
//     l2      max(read slots * 32 / l2_bytes_per_second, write slots / 20 * 128 / l2_write_bytes_per_second,
//                 q * bytes / l2_bytes_per_cycle / f)   slots: cache_model.h; the last: the port of one multiprocessor
//     l1      q * max(sectors * 32 / l1_bytes_per_cycle, lines that requests touch)
//     shared  q * (wavefronts * (1 - merged loads / requests) + shuffles)
//     issue   q * W(all) / warp_schedulers
//     fp32, fp64, fp16, sfu   q * W(u) * 32 / lanes(u). An fp16 warp instruction counts 64: its lanes are counted in packed
//             x2 results. sfu is the larger of special functions and conversions.
//     integer q * 32 * max(W / (2 * int_lanes), (W + W(fp32)) / (int_lanes + fp32_lanes)): ptxas puts additions on the
//             FMA pipes when the integer pipe is full
//     atomic  max(slots / l2_atomics_per_cycle / f, slots at the hottest place / atomics_per_cycle / f): a slot is a sector
//             of a request, or one more lane that must wait for its turn at an address that it shares
//     blocks  all blocks * block_launch_cycles / f: the chip starts one block after the other; reported within overhead
// Latency part: a multiprocessor works off its blocks in ceil(ceil(B / S) / R) rounds. A round takes what one warp
// alone needs, from the chains of dependent instructions and the counted mix of L1, L2 and DRAM latencies:
//     latency rounds * path cycles of the busiest warp of a block / f
// This is Little's law seen from the warp: with R * warps-per-block warps, each with the bytes in flight that its
// chains allow, bandwidth cannot exceed bytes in flight over latency. A thread that walks a row alone shows up here, as
// do small blocks and low occupancy.
//
// Parts overlap, but not perfectly: phases of a kernel differ, and loads wait longer when the memory is busy. So
//     total = (sum of part^4)^(1/4) + launch_overhead
// over all parts but the overhead (l1 and shared share one data path and are added first): the largest part where it
// stands out, 19 % more where two are equal. The exponent was fitted to 38 kernels that were measured on an H200
// (tests/unit/sim_model/calibration): the typical factor between modelled and measured time is 1.10, the largest
// 1.4.
//
// Sources: Williams et al. 2009 (roofline); Volkov 2016, "Understanding Latency Hiding on GPUs" (throughput and latency
// bounds from occupancy, the smooth transition between them); Hong and Kim 2009 (warp parallelism); the chip's figures
// say theirs.
//
// Limits. PTX stands in for machine code: ptxas' own unrolling is not seen, and register spills only by their number. All blocks of a launch
// are taken to be alike, and the busiest warp of a block is found over the whole kernel, not between barriers. Power,
// DRAM pages and refresh, TLB misses, the two halves of L2, instruction cache misses and overlap of launches are not
// modelled. The model is made to rank variants of a kernel and to name what limits them; a modelled time is not a
// measurement and is never shown without the word.
#pragma once

#include "core/chip.h"
#include "core/counters.h"
#include "sim/cache_model.h"
#include "sim/cost_model.h"

namespace warpwright::sim {

struct TimeInputs {
  uint64_t blocks = 0;
  uint64_t working_blocks = 0;  // the first of them; the rest returns at once. 0: all
  int threads_per_block = 0;
  Occupancy occupancy;
  Counters counters;  // of the whole grid
  Work work;          // of the whole grid
  Traffic traffic;    // of the whole grid
  uint64_t hottest_atomics = 0;
};

TimeBreakdown ModelTime(const Chip& chip, const TimeInputs& inputs);

// Average cycles that a warp's load waits at one source line; without any request, as long as for shared memory.
// `sectors_per_request` beyond what one pass brings add their transfer time.
double LoadCycles(const Chip& chip, double l1_requests, double l2_requests, double dram_requests,
                  double sectors_per_request);

}  // namespace warpwright::sim
