// The modelled time of one launch.
//
// Notation: B blocks (that work), S multiprocessors, R resident blocks per multiprocessor, f the clock, W(u) the warp
// instructions of unit u over the whole grid, as machine code (cost_model.h). The busiest multiprocessor gets ceil(B /
// S) of the B blocks, so everything that is bound to a multiprocessor takes its average share times
//     q = ceil(B / S) / B                                   (1/S for large grids: wave quantisation)
//
// Throughput parts, in cycles of one multiprocessor unless bytes are divided by a bandwidth of the chip:
//     dram    (read + written bytes) / dram_bytes_per_second
//     l2      max(read slots * 32 / l2_bytes_per_second, write slots / 20 * 128 / l2_write_bytes_per_second,
//                 q * S * written sectors * 32 / l2_write_bytes_per_second, q * bytes / l2_bytes_per_cycle / f)
//             slots: cache_model.h; the last two: what one multiprocessor sends and receives
//     l1      q * max(sectors * 32 / l1_bytes_per_cycle, lines that requests touch)
//     shared  q * (wavefronts * (1 - merged loads / requests) + shuffles)
//     issue   q * W(all) / warp_schedulers
//     fp32, fp64, fp16, sfu   q * W(u) * 32 / lanes(u). An fp16 warp instruction counts 64: its
//             lanes are counted in packed x2 results. sfu is the larger of special functions and conversions.
//     tensor  q * tensor_fmas / tensor_fma_per_cycle, where f16 and bf16 count once, tf32 twice, 8-bit integers half,
//             and those of wgmma 0.63 (core/tensor_rates.h)
//     integer q * 32 * max(W / (2 * int_lanes), (W + W(fp32)) / (int_lanes + fp32_lanes)): ptxas puts additions on the
//             FMA pipes when the integer pipe is full
//     atomic  max(slots / l2_atomics_per_cycle / f, slots at the hottest 1 KiB / atomics_per_cycle / f): a slot is
//             a sector of a request, or one more lane that must wait for its turn at an address that it shares
//     blocks  all blocks * block_launch_cycles / f: the chip starts one block after the other; reported within overhead
// Latency part: a multiprocessor runs its blocks in ceil(ceil(B / S) / R) rounds. A round takes what one warp
// alone needs, from the chains of dependent instructions and the counted mix of L1, L2 and DRAM latencies:
//     latency rounds * path cycles of the busiest warp of a block / f
// This is Little's law seen from the warp: with R * warps-per-block warps, each with the bytes in flight that its
// chains allow, bandwidth cannot exceed bytes in flight over latency. A thread that walks a row alone shows up here, as
// do small blocks and low occupancy.
//
// Loads wait longer when the memory is busy: by dram_queue_ns * load / (1 - load), where `load` is the share of the
// bandwidth that is used. With P the latency part from an idle memory, P' the part of it that waits for DRAM, and D the
// dram part, the time T of both together has load = D / T, so that T = P + P' * queue / latency * D / (T - D):
//     memory  (P + D + sqrt((P - D)^2 + 4 * P' * D * dram_queue_ns / dram_latency_ns)) / 2
// Parts overlap, but not perfectly:
//     overlapped = (sum of part^8)^(1/8)
// over memory and all other parts except the launch overhead (l1 and shared share one data path and are added first):
// the largest part if it dominates, 9 % more if two are equal.
//
// Phases (schedule_model.h: outermost loops and the code between them) need different parts. Blocks that begin together
// also end a phase together: then no other block is in another phase whose parts could overlap with it, and the times
// of the phases add up. Later blocks begin when others end. With R blocks spread over all phases, a share of 1 / R of
// what overlap could hide remains exposed. With w the share of blocks that are in the first wave,
//     total = weight * sum over phases(overlapped) + (1 - weight) * overlapped(whole kernel) + launch_overhead
//     weight  w + (1 - w) / R, the time-weighted mean over the phases, except the last one; 1 / R if a phase waits
//             for nothing beyond L1, since the schedulers then let one block run ahead of the next
//
// Fitted: the exponent (over the 38 kernels of tests/unit/sim_model/calibration and two thirds of the variants of
// tests/bench) and costs of a division. The typical factor between modelled and measured time of the 38 is 1.09, the
// largest 1.30.
//
// Sources: Williams et al. 2009 (roofline); Volkov 2016, "Understanding Latency Hiding on GPUs" (throughput and latency
// bounds from occupancy, the smooth transition between them); Hong and Kim 2009 (warp parallelism); Little's law and
// the M/M/1 queue's; the sources of a chip's figures are given with them.
//
// Limits. PTX stands in for machine code except in innermost loops with loads (schedule_model.h), and register spills
// are seen only by their number. A phase's part of the traffic follows from averages by source line. All blocks of a
// launch are assumed to be alike, and the busiest warp of a block is found over the whole kernel, not between barriers.
// Power, DRAM pages and refresh, TLB misses, instruction cache misses and overlap of launches are not modelled. The
// model is meant to rank variants of a kernel and to name what limits them; a modelled time is not a measurement and is
// never shown without the word "modelled".
#pragma once

#include <vector>

#include "core/chip.h"
#include "core/counters.h"
#include "sim/cache_model.h"
#include "sim/cost_model.h"

namespace warpwright::sim {

struct TimeInputs {
  uint64_t blocks = 0;
  uint64_t working_blocks = 0;  // the first of them; the rest returns immediately. 0: all
  int threads_per_block = 0;
  core::Occupancy occupancy;
  core::Counters counters;   // of the whole grid
  Work work;                 // of the whole grid
  std::vector<Work> phases;  // the same by phase (schedule_model.h); empty: one phase
  Traffic traffic;           // of the whole grid
  uint64_t hottest_atomics = 0;
};

core::TimeBreakdown ModelTime(const core::Chip& chip, const TimeInputs& inputs);

// Average cycles that a warp's load waits at one source line; without any request, as long as for shared memory.
// `sectors_per_request` beyond what one pass brings add their transfer time.
double LoadCycles(const core::Chip& chip, double l1_requests, double l2_requests, double dram_requests,
                  double sectors_per_request);

}  // namespace warpwright::sim
