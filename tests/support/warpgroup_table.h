// Products of warpgroups (wgmma) as PTX, with inputs, for comparing the simulator with a GPU.
// tests/golden/sim/warpgroup_products.txt holds what a GPU computed (recorded by tests/gpu/wgmma_golden.cu); the unit
// test runs the same kernels on the simulator. Plain C++17: nvcc compiles it too.
//
// Shared memory is full of numbers, and descriptors say which of them are factors: where they point beside the usual
// layouts, results tell as much as where they do not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::sim {

// One operand in shared memory; distances in bytes.
struct WarpgroupMatrix {
  int swizzle = 0;      // bytes: 0 (none), 32, 64, 128
  bool across = false;  // rows of A (columns of B) are neighbours, not terms
  int start = 0, leading = 0, stride = 0;
};

struct WarpgroupCase {
  std::string name;
  bool brain = false;     // bf16, else f16
  bool half_sum = false;  // sums in f16
  int n = 8;
  bool left_in_registers = false;
  WarpgroupMatrix left, right;
  bool adds = true;  // scale-d
  int sign_a = 1, sign_b = 1;
  int products = 1;  // one after the other, `next` bytes further on in both
  int next = 0;
  int sums() const { return half_sum ? n / 4 : n / 2; }  // registers of a thread
};

// One block each, of inputs of one kind (support/number_kinds): see kMatrixTrials.
inline constexpr int kWarpgroupTrials = 8;
inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupShared = 40960;  // bytes, all filled
inline constexpr int kWarpgroupRight = 8192;    // where the right operand's part begins

const std::vector<WarpgroupCase>& WarpgroupTable();
// Words of a trial: shared memory; then of each register of the sums, then of A, one for each thread.
size_t WarpgroupWords(const WarpgroupCase& c);
std::vector<uint32_t> WarpgroupInputs(const WarpgroupCase& c);
std::string WarpgroupKernel(size_t index);  // "warpgroup_12"
std::string WarpgroupModule(size_t index);  // PTX; out and in are parameters, one block for each trial

}  // namespace warpwright::sim
