// Counters of kernels against manual calculation. Buffers begin at a multiple of 256 bytes.
#include <gtest/gtest.h>

#include "tests/support/sim_kernels.h"
#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

constexpr const char* kMoreKernels = R"(
template <int kPad> __device__ void transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_plain(float* out, const float* in, int n) { transpose<0>(out, in, n); }
extern "C" __global__ void transpose_padded(float* out, const float* in, int n) { transpose<1>(out, in, n); }
extern "C" __global__ void histogram(int* out, const int* in) {
  __shared__ int bins[64];
  int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] & 63], 1);
  __syncthreads();
  if (t < 64) atomicAdd(&out[t], bins[t]);
}
extern "C" __global__ void shapes(float4* v4, float2* v2, const float* in, double* d) {
  __shared__ float2 s2[32];
  __shared__ float4 s4[32];
  __shared__ double s8[64];
  int t = threadIdx.x;
  v4[t] = make_float4(in[t * 2], in[t * 32], in[0], 1);
  s2[t] = make_float2(t, t);
  s4[t] = make_float4(t, t, t, t);
  s8[t * 2] = t;
  __syncwarp();
  v2[t] = make_float2(s4[0].x, 0);
  d[t] = s8[t * 2] * 2.0 + 1.0;
}
)";

class CountersTest : public testing::Test {
 protected:
  SimKit kit = SimKit::FromCuda(std::string(kKernels) + kMoreKernels);
};

TEST_F(CountersTest, ElementwiseAdd) {
  const auto a = kit.Make<float>("a", 1000), b = kit.Make<float>("b", 1000), out = kit.Make<float>("out", 1000, false);
  ASSERT_TRUE(kit.Run("add", {4, 1, 1}, {256, 1, 1}, 0, out, a, b, 1000));
  const core::Counters& n = kit.counters;
  // 31 whole warps and one of 8 lanes, which is one sector.
  EXPECT_EQ(n.warps, 32u);
  EXPECT_EQ(n.blocks, 4u);
  EXPECT_EQ(n.global_load_requests, 64u);
  EXPECT_EQ(n.global_load_sectors, 2u * (31 * 4 + 1));
  EXPECT_EQ(n.global_load_bytes, 8000u);
  EXPECT_EQ(n.global_store_requests, 32u);
  EXPECT_EQ(n.global_store_sectors, 125u);
  EXPECT_EQ(n.global_store_bytes, 4000u);
  EXPECT_EQ(n.flops_fp32, 1000u);
  EXPECT_EQ(n.branches, 32u);
  EXPECT_EQ(n.divergent_branches, 1u);
  EXPECT_EQ(n.barriers, 0u);
  EXPECT_EQ(n.warp_instructions_by_class[static_cast<int>(core::InstructionClass::kFp32)], 32u);
  EXPECT_EQ(n.warp_instructions_by_class[static_cast<int>(core::InstructionClass::kGlobalLoad)], 64u);
  uint64_t by_class = 0;
  for (uint64_t count : n.warp_instructions_by_class) by_class += count;
  EXPECT_EQ(by_class, n.warp_instructions);
  // Line 4 of the source has all requests.
  uint64_t requests = 0;
  for (const core::LineCounters& line : kit.lines)
    if (line.line == 4) requests += line.global_requests;
  EXPECT_EQ(requests, 96u);
}

TEST_F(CountersTest, NaiveMatmul) {
  const auto a = kit.Make<float>("a", 1024), b = kit.Make<float>("b", 1024), c = kit.Make<float>("c", 1024, false);
  ASSERT_TRUE(kit.Run("matmul", {2, 2, 1}, {16, 16, 1}, 0, c, a, b, 32));
  // A warp is two rows of 16 columns: two sectors of a, and 64 bytes of b.
  EXPECT_EQ(kit.counters.global_load_requests, 32u * 32 * 2);
  EXPECT_EQ(kit.counters.global_load_sectors, 32u * 32 * 4);
  EXPECT_EQ(kit.counters.global_load_bytes, 32u * 32 * 32 * 8);
  EXPECT_EQ(kit.counters.global_store_sectors, 32u * 4);
  EXPECT_EQ(kit.counters.flops_fp32, 2u * 32 * 32 * 32);
  EXPECT_EQ(kit.counters.divergent_branches, 0u);
}

TEST_F(CountersTest, TiledMatmul) {
  const auto a = kit.Make<float>("a", 4096), b = kit.Make<float>("b", 4096), c = kit.Make<float>("c", 4096, false);
  ASSERT_TRUE(kit.Run("tiled", {2, 2, 1}, {32, 32, 1}, 0, c, a, b, 64));
  const uint64_t tile_warps = 4 * 32 * 2;  // blocks, warps, tiles
  EXPECT_EQ(kit.counters.global_load_requests, tile_warps * 2);
  EXPECT_EQ(kit.counters.global_load_sectors, tile_warps * 8);
  EXPECT_EQ(kit.counters.shared_requests, tile_warps * (2 + 64));
  EXPECT_EQ(kit.counters.shared_wavefronts, tile_warps * (2 + 64));
  EXPECT_EQ(kit.counters.shared_bank_conflicts, 0u);
  EXPECT_EQ(kit.counters.barriers, tile_warps * 2);
  EXPECT_EQ(kit.counters.flops_fp32, 2u * 64 * 64 * 64);
}

TEST_F(CountersTest, TreeReduction) {
  const auto in = kit.Make<float>("in", 768), out = kit.Make<float>("out", 3, false);
  for (size_t i = 0; i < 768; ++i) in[i] = static_cast<float>(i);
  ASSERT_TRUE(kit.Run("reduce", {3, 1, 1}, {256, 1, 1}, 0, out, in, 768));
  EXPECT_EQ(out[1], 256 * 256 + 255 * 128);
  // Stores 8 + 4 + 2 + 1 and 5 of one warp each, two loads for all of these but the first 8, one load at the end.
  EXPECT_EQ(kit.counters.shared_requests, 3u * (8 + 3 * (4 + 2 + 1 + 5) + 1));
  EXPECT_EQ(kit.counters.shared_bank_conflicts, 0u);
  EXPECT_EQ(kit.counters.barriers, 3u * 8 * 9);
  // Strides 16 to 1 and the last line diverge the first warp of a block.
  EXPECT_EQ(kit.counters.divergent_branches, 3u * 6);
  EXPECT_EQ(kit.counters.flops_fp32, 3u * 255);
}

TEST_F(CountersTest, TransposeWithAndWithoutPadding) {
  const auto in = kit.Make<float>("in", 4096), out = kit.Make<float>("out", 4096, false);
  for (size_t i = 0; i < 4096; ++i) in[i] = static_cast<float>(i);
  for (const bool padded : {false, true}) {
    ASSERT_TRUE(kit.Run(padded ? "transpose_padded" : "transpose_plain", {2, 2, 1}, {32, 8, 1}, 0, out, in, 64))
        << kit.fault.message;
    for (size_t y = 0; y < 64; ++y)
      for (size_t x = 0; x < 64; ++x) ASSERT_EQ(out[y * 64 + x], in[x * 64 + y]);
    const uint64_t requests = 4 * 8 * 4;  // blocks, warps, rows: each one store and one load
    EXPECT_EQ(kit.counters.shared_requests, 2 * requests);
    EXPECT_EQ(kit.counters.shared_wavefronts, padded ? 2 * requests : requests * 33);
    EXPECT_EQ(kit.counters.shared_bank_conflicts, padded ? 0 : requests * 31);
    EXPECT_EQ(kit.counters.global_load_sectors, requests * 4);
    EXPECT_EQ(kit.counters.global_store_sectors, requests * 4);
  }
}

TEST_F(CountersTest, Histogram) {
  const auto in = kit.Make<int>("in", 512), out = kit.Make<int>("out", 64);
  for (int i = 0; i < 512; ++i) in[static_cast<size_t>(i)] = i < 256 ? i : 7;
  ASSERT_TRUE(kit.Run("histogram", {2, 1, 1}, {256, 1, 1}, 0, out, in)) << kit.fault.message;
  EXPECT_EQ(out[7], 4 + 256);
  EXPECT_EQ(out[8], 4);
  // Both blocks: 2 stores and 2 loads of zeroed bins, 8 atomics. The second block's atomics all hit one word, 32 in a
  // row.
  EXPECT_EQ(kit.counters.shared_requests, 2u * (2 + 8 + 2));
  EXPECT_EQ(kit.counters.shared_wavefronts, 12u + 4 + 8 * 32);
  EXPECT_EQ(kit.counters.shared_bank_conflicts, 8u * 31);
  EXPECT_EQ(kit.counters.atomic_requests, 4u);
  EXPECT_EQ(kit.counters.atomic_sectors, 16u);
  EXPECT_EQ(kit.counters.warp_instructions_by_class[static_cast<int>(core::InstructionClass::kAtomic)], 2u * 8 + 4);
}

TEST_F(CountersTest, StridedAndVectorAccesses) {
  const auto in = kit.Make<float>("in", 1024);
  const auto v4 = kit.Make<float>("v4", 128, false), v2 = kit.Make<float>("v2", 64, false);
  const auto d = kit.Make<double>("d", 32, false);
  ASSERT_TRUE(kit.Run("shapes", {1, 1, 1}, {32, 1, 1}, 0, v4, v2, in, d)) << kit.fault.message;
  const core::Counters& n = kit.counters;
  // in[2t]: 8 sectors, in[32t]: 32, in[0]: 1. Stores: 16 of float4, 8 of float2, 8 of double.
  EXPECT_EQ(n.global_load_sectors, 41u);
  EXPECT_EQ(n.global_store_sectors, 32u);
  EXPECT_EQ(n.flops_fp64, 64u);
}

}  // namespace
}  // namespace warpwright::sim
