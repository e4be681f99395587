// What tensor cores reach beyond core::Chip's figure, which is mma.sync's.
#pragma once

#include "core/chip.h"

namespace warpwright::core {

// Multiply-adds of f16 and bf16 by wgmma, per multiprocessor and cycle; 0: there is none. On an H100, mma.sync reaches
// 62 to 65 % of what wgmma does, which is the data sheet's figure (Luo et al. 2024, "Benchmarking and Dissecting the
// Nvidia Hopper GPU Architecture"); chips take 63 %. Measured there: 64.6 cycles for 64 x 128 x 16, 128.9 for
// 64 x 256 x 16, which is 2030 multiply-adds a cycle (one warpgroup, clock64 around a loop of products, 2026-11-24).
inline double WarpgroupFmaPerCycle(const Chip& chip) {
  return chip.arch.starts_with("sm_90") ? chip.tensor_fma_per_cycle / 0.63 : 0;
}

// Of so many operations in f16 or bf16 by mma.sync, two for each multiply-add; 0: the chip has no tensor cores.
inline double TensorUs(const Chip& chip, double flops) {
  const double per_us = 2 * chip.tensor_fma_per_cycle * chip.multiprocessors * chip.clock_ghz * 1e3;
  return per_us > 0 ? flops / per_us : 0;
}

}  // namespace warpwright::core
