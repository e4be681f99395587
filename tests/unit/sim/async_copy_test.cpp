// cp.async: data arrives at the wait, and what goes wrong before is reported with the line of the read.
#include <gtest/gtest.h>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

constexpr const char* kHelpers = R"(
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy16(void* to, const void* from, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ void copy4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
)";

// Four stages in flight, as a pipelined product has them.
TEST(AsyncCopy, PipelinesOfGroups) {
  SimKit kit = SimKit::FromCuda(std::string(kHelpers) + R"(
extern "C" __global__ void sums(float* out, const float4* in, int stages) {
  __shared__ float4 tile[4][32];
  int t = threadIdx.x;
  for (int s = 0; s < 3; ++s) { if (s < stages) copy16(&tile[s][t], &in[s * 32 + t]); commit(); }
  float sum = 0;
  for (int s = 0; s < stages; ++s) {
    wait<2>();
    __syncthreads();
    float4 v = tile[s % 4][31 - t];
    sum += v.x + v.y + v.z + v.w;
    if (s + 3 < stages) copy16(&tile[(s + 3) % 4][t], &in[(s + 3) * 32 + t]);
    commit();
  }
  out[t] = sum;
}
)");
  const auto in = kit.Make<float>("in", 10 * 128, true, true);
  for (size_t i = 0; i < in.size; ++i) in[i] = static_cast<float>(i % 97);
  const auto out = kit.Make<float>("out", 32, false);
  ASSERT_TRUE(kit.Run("sums", {1, 1, 1}, {32, 1, 1}, 0, out, in, 10)) << kit.fault.message << kit.fault.line;
  for (size_t t = 0; t < 32; ++t) {
    float expected = 0;
    for (size_t s = 0; s < 10; ++s)
      for (size_t k = 0; k < 4; ++k) expected += in[s * 128 + (31 - t) * 4 + k];
    EXPECT_EQ(out[t], expected) << t;
  }
  // Ten warp instructions of 512 bytes, which are sixteen sectors each; four passes to shared memory.
  EXPECT_EQ(kit.counters.global_load_requests, 10u);
  EXPECT_EQ(kit.counters.global_load_sectors, 160u);
  EXPECT_EQ(kit.counters.global_load_bytes, 5120u);
  EXPECT_EQ(kit.counters.shared_requests, 20u);
  EXPECT_EQ(kit.counters.shared_wavefronts, 80u);
  EXPECT_EQ(kit.counters.shared_bank_conflicts, 0u);
}

TEST(AsyncCopy, ZeroFillReadsOnlyWhatItCopies) {
  SimKit kit = SimKit::FromCuda(std::string(kHelpers) + R"(
extern "C" __global__ void guarded(float* out, const float* in, int n) {
  __shared__ __align__(16) float tile[128];
  int t = threadIdx.x, left = 4 * (n - 4 * t);
  copy16(&tile[4 * t], in + 4 * t, left < 0 ? 0 : left > 16 ? 16 : left);
  commit(); wait<0>();
  for (int i = 0; i < 4; ++i) out[4 * t + i] = tile[4 * t + i];
}
)");
  const auto in = kit.Make<float>("in", 70, true, true);  // past its end nothing may be read
  for (size_t i = 0; i < in.size; ++i) in[i] = static_cast<float>(i + 1);
  const auto out = kit.Make<float>("out", 128, false);
  ASSERT_TRUE(kit.Run("guarded", {1, 1, 1}, {32, 1, 1}, 0, out, in, 70)) << kit.fault.message;
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i < 70 ? static_cast<float>(i + 1) : 0.0f) << i;
}

TEST(AsyncCopy, LibrariesLowerToIt) {
  SimKit kit = SimKit::FromCuda(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(float* out, const float* in) {
  __shared__ __align__(16) float tile[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile));
  cg::wait(block);
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
extern "C" __global__ void pipeline(float* out, const float* in) {
  __shared__ __align__(16) float tile[256];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
)");
  const auto in = kit.Make<float>("in", 256, true, true);
  for (size_t i = 0; i < in.size; ++i) in[i] = static_cast<float>(i);
  for (const char* kernel : {"groups", "pipeline"}) {
    const auto out = kit.Make<float>("out", 256, false);
    ASSERT_TRUE(kit.Run(kernel, {1, 1, 1}, {256, 1, 1}, 0, out, in)) << kernel << ": " << kit.fault.message;
    for (size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], static_cast<float>(255 - i)) << kernel;
  }
}

TEST(AsyncCopy, WhatGoesWrong) {
  SimKit kit = SimKit::FromCuda(std::string(kHelpers) + R"(
extern "C" __global__ void not_waited(float* out, const float* in) {
  __shared__ float tile[64];
  copy4(&tile[threadIdx.x], &in[threadIdx.x]); commit();
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // line 16
}
extern "C" __global__ void not_committed(float* out, const float* in) {
  __shared__ float tile[64];
  copy4(&tile[threadIdx.x], &in[threadIdx.x]);
  wait<0>(); __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // line 22
}
extern "C" __global__ void one_group_short(float* out, const float* in) {
  __shared__ float tile[2][64];
  for (int s = 0; s < 2; ++s) { copy4(&tile[s][threadIdx.x], &in[threadIdx.x]); commit(); }
  wait<1>(); __syncthreads();
  out[threadIdx.x] = tile[0][threadIdx.x] + tile[1][threadIdx.x];  // line 28
}
extern "C" __global__ void no_barrier(float* out, const float* in) {
  __shared__ float tile[64];
  copy4(&tile[threadIdx.x], &in[threadIdx.x]); commit(); wait<0>();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void still_read(float* out, const float* in) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
  copy4(&tile[threadIdx.x], &in[threadIdx.x]);
  commit(); wait<0>();
}
extern "C" __global__ void past(float* out, const float* in) {
  __shared__ float tile[64];
  copy4(&tile[threadIdx.x], &in[threadIdx.x + 1]);
}
extern "C" __global__ void misaligned(float* out, const float* in) {
  __shared__ __align__(16) float tile[256];
  copy16(&tile[4 * threadIdx.x], &in[threadIdx.x % 8]);
}
)");
  const struct {
    const char* kernel;
    Kind kind;
    int line;
    const char* message;
  } cases[] = {
      {"not_waited", Kind::kSharedRace, 16, "read of tile[0] while data is copied there that has not been"},
      {"not_committed", Kind::kSharedRace, 22, "read of tile[0] while data is copied there"},
      {"one_group_short", Kind::kSharedRace, 28, "read of tile[64] while data is copied there"},
      {"no_barrier", Kind::kSharedRace, 7, "race on shared memory: a write of tile[32] while thread (31, 0, 0) reads"},
      {"still_read", Kind::kSharedRace, 39, "race on shared memory: a read of tile[31] while thread (31, 0, 0) writes"},
      {"past", Kind::kOutOfBounds, 7, "out-of-bounds read of 4 bytes at in[64]"},
      {"misaligned", Kind::kMisaligned, 4, "misaligned read of 16 bytes at in"}};
  for (const auto& c : cases) {
    const auto out = kit.Make<float>("out", 64, false);
    const auto in = kit.Make<float>("in", 64, true, true);
    ASSERT_FALSE(kit.Run(c.kernel, {1, 1, 1}, {64, 1, 1}, 0, out, in)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.kernel << ": " << kit.fault.message;
    EXPECT_TRUE(kit.fault.message.starts_with(c.message)) << c.kernel << ": " << kit.fault.message;
    EXPECT_EQ(kit.fault.line, c.line) << c.kernel;
  }
}

}  // namespace
}  // namespace warpwright::sim
