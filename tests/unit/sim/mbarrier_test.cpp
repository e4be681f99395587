// Barriers in shared memory: who arrives, who waits, and what that orders.
#include <gtest/gtest.h>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

constexpr const char* kBarrierHelpers = R"(
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(address(b)), "r"(count) : "memory");
}
__device__ void arrive(unsigned long long* b) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" :: "r"(address(b)) : "memory");
}
__device__ void wait(unsigned long long* b, unsigned parity) {
  asm volatile("{ .reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE: }"
               :: "r"(address(b)), "r"(parity) : "memory");
}
)";

// Warp 0 fills a ring of two tiles, warp 1 empties it.
TEST(Mbarrier, ProducerAndConsumer) {
  SimKit kit = SimKit::FromCuda(std::string(kBarrierHelpers) + R"(
extern "C" __global__ void ring(float* out, const float* in, int tiles) {
  __shared__ float tile[2][32];
  __shared__ unsigned long long full[2], empty[2];
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) for (int s = 0; s < 2; ++s) { init(&full[s], 32); init(&empty[s], 32); }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; ++t) {
      wait(&empty[t % 2], t / 2 % 2 ^ 1);
      tile[t % 2][lane] = in[t * 32 + lane];
      arrive(&full[t % 2]);
    }
  } else {
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
      wait(&full[t % 2], t / 2 % 2);
      sum += tile[t % 2][31 - lane];
      arrive(&empty[t % 2]);
    }
    out[lane] = sum;
  }
}
)");
  const auto in = kit.Make<float>("in", 9 * 32, true, true);
  for (size_t i = 0; i < in.size; ++i) in[i] = static_cast<float>(i % 23);
  for (const bool reverse : {false, true}) {
    const auto out = kit.Make<float>("out", 32, false);
    kit.options.reverse_warps = reverse;
    ASSERT_TRUE(kit.Run("ring", {1, 1, 1}, {64, 1, 1}, 0, out, in, 9)) << kit.fault.message << kit.fault.line;
    for (size_t lane = 0; lane < 32; ++lane) {
      float expected = 0;
      for (size_t t = 0; t < 9; ++t) expected += in[t * 32 + 31 - lane];
      EXPECT_EQ(out[lane], expected) << lane;
    }
  }
}

TEST(Mbarrier, LibrariesAndCopies) {
  SimKit kit = SimKit::FromCuda(std::string(kBarrierHelpers) + R"(
#include <cuda/barrier>
extern "C" __global__ void library(float* out, const float* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void copies(float* out, const float* in) {
  __shared__ float tile[64];
  __shared__ unsigned long long b;
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address(&tile[threadIdx.x])), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(address(&b)) : "memory");
  wait(&b, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
)");
  const auto in = kit.Make<float>("in", 64, true, true);
  for (size_t i = 0; i < in.size; ++i) in[i] = static_cast<float>(i);
  for (const char* kernel : {"library", "copies"}) {
    const auto out = kit.Make<float>("out", 64, false);
    ASSERT_TRUE(kit.Run(kernel, {1, 1, 1}, {64, 1, 1}, 0, out, in)) << kernel << ": " << kit.fault.message;
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], static_cast<float>(63 - i)) << kernel;
  }
}

TEST(Mbarrier, WhatGoesWrong) {
  SimKit kit = SimKit::FromCuda(std::string(kBarrierHelpers) + R"(
extern "C" __global__ void one_missing(float* out) {
  __shared__ unsigned long long b;
  if (threadIdx.x == 0) init(&b, 65);
  __syncthreads();
  arrive(&b);
  wait(&b, 0);
}
extern "C" __global__ void one_too_many(float* out) {
  __shared__ unsigned long long b;
  if (threadIdx.x == 0) init(&b, 100);
  __syncthreads();
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0], 3; }" :: "r"(address(&b)) : "memory");
}
extern "C" __global__ void not_initialised(float* out) {
  __shared__ unsigned long long b;
  b = 0;
  __syncthreads();
  arrive(&b);
}
extern "C" __global__ void before_it_is_there(float* out) {
  __shared__ unsigned long long b;
  if (threadIdx.x == 40) init(&b, 64);
  arrive(&b);
}
extern "C" __global__ void not_waited(float* out) {
  __shared__ unsigned long long b;
  __shared__ float tile[64];
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  tile[threadIdx.x] = 1;
  arrive(&b);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
)");
  const struct {
    const char* kernel;
    Kind kind;
    const char* message;
  } cases[] = {
      {"one_missing", Kind::kDivergentBarrier, "the mbarrier at b[0] is never completed: 1 of 65 arrivals and 0 bytes"},
      {"one_too_many", Kind::kIllegalInstruction, "the mbarrier at b[0] gets 3 arrivals in a phase that waits for 1"},
      {"not_initialised", Kind::kIllegalInstruction, "the mbarrier at b[0] is not initialised"},
      {"before_it_is_there", Kind::kIllegalInstruction, "the mbarrier at b[0] is not initialised"},
      {"not_waited", Kind::kSharedRace, "race on shared memory: a "}};
  for (const auto& c : cases) {
    const auto out = kit.Make<float>("out", 64, false);
    ASSERT_FALSE(kit.Run(c.kernel, {1, 1, 1}, {64, 1, 1}, 0, out)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.kernel << ": " << kit.fault.message;
    EXPECT_TRUE(kit.fault.message.starts_with(c.message)) << c.kernel << ": " << kit.fault.message;
  }
}

}  // namespace
}  // namespace warpwright::sim
