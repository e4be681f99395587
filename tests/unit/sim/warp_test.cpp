// Shuffles, votes, matches and the masks of the lanes that take part.
#include <gtest/gtest.h>

#include <bit>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

TEST(Warp, ShufflesOfAllModesAndWidths) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(int* out) {
  int t = threadIdx.x, v = t * 10;
  out[t] = __shfl_sync(~0u, v, 5);
  out[32 + t] = __shfl_sync(~0u, v, t ^ 3, 8);
  out[64 + t] = __shfl_up_sync(~0u, v, 3);
  out[96 + t] = __shfl_up_sync(~0u, v, 2, 16);
  out[128 + t] = __shfl_down_sync(~0u, v, 3);
  out[160 + t] = __shfl_down_sync(~0u, v, 5, 8);
  out[192 + t] = __shfl_xor_sync(~0u, v, 9);
  out[224 + t] = (int)__shfl_sync(~0u, (long long)v << 33, 31 - t) + (int)(__shfl_sync(~0u, (long long)v << 33, 31 - t) >> 33);
})");
  const auto out = kit.Make<int>("out", 256, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
  for (int t = 0; t < 32; ++t) {
    auto at = [&](size_t row) { return out[row * 32 + t]; };
    EXPECT_EQ(at(0), 50);
    EXPECT_EQ(at(1), ((t & ~7) | ((t ^ 3) & 7)) * 10);
    EXPECT_EQ(at(2), (t >= 3 ? t - 3 : t) * 10);
    EXPECT_EQ(at(3), (t % 16 >= 2 ? t - 2 : t) * 10);
    EXPECT_EQ(at(4), (t + 3 < 32 ? t + 3 : t) * 10);
    EXPECT_EQ(at(5), (t % 8 + 5 < 8 ? t + 5 : t) * 10);
    EXPECT_EQ(at(6), (t ^ 9) * 10);
    EXPECT_EQ(at(7), (31 - t) * 10);
  }
}

TEST(Warp, VotesMatchesAndReductions) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(unsigned* out) {
  unsigned t = threadIdx.x;
  out[t] = __ballot_sync(~0u, t % 3 == 0);
  out[32 + t] = __all_sync(~0u, t < 32) * 4 + __any_sync(~0u, t == 40) * 2 + __uni_sync(~0u, t < 7);
  out[64 + t] = __match_any_sync(~0u, t / 5);
  int same; unsigned m = __match_all_sync(~0u, 7ull, &same);
  out[96 + t] = m + same;
  out[128 + t] = __reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, t) * 1000 + __reduce_xor_sync(~0u, t * 77) * 100000;
  out[160 + t] = __reduce_min_sync(~0u, (int)t - 5);
  if (t & 1) { out[192 + t] = __ballot_sync(0xaaaaaaaa, t > 10); __syncwarp(0xaaaaaaaa); }
  else out[192 + t] = __activemask();
})");
  const auto out = kit.Make<uint32_t>("out", 256, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
  uint32_t thirds = 0, exclusive = 0;
  for (uint32_t t = 0; t < 32; ++t) thirds |= (t % 3 == 0 ? 1u : 0u) << t, exclusive ^= t * 77;
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t match = 0;
    for (uint32_t u = 0; u < 32; ++u) match |= (u / 5 == t / 5 ? 1u : 0u) << u;
    EXPECT_EQ(out[t], thirds);
    EXPECT_EQ(out[32 + t], 4u);
    EXPECT_EQ(out[64 + t], match);
    EXPECT_EQ(out[96 + t], UINT32_MAX + 1u);
    EXPECT_EQ(out[128 + t], 496 + 31 * 1000 + exclusive * 100000);
    EXPECT_EQ(out[160 + t], static_cast<uint32_t>(-5));
    EXPECT_EQ(out[192 + t], t & 1 ? 0xaaaaaaaau & ~0x7ffu : 0x55555555u);
  }
}

TEST(Warp, InactiveMembersAndSourcesAreReported) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void member(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 0);
  __syncthreads();
  out[threadIdx.x + 32] = 0;
}
extern "C" __global__ void source(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 20);
}
extern "C" __global__ void outsider(int* out) {
  out[threadIdx.x] = __shfl_sync(0xffff, threadIdx.x, 0);
}
extern "C" __global__ void partial(int* out) {
  out[threadIdx.x] = __shfl_down_sync(0xffffffff, threadIdx.x, 16);
})");
  const auto out = kit.Make<int>("out", 64);
  const struct {
    const char* kernel;
    uint32_t threads;
    int line;
    const char* message;
  } cases[] = {{"member", 32, 4, "waits for lanes 0xffff0000"},
               {"source", 32, 10, "lane 0 reads from lane 20"},
               {"outsider", 32, 13, "lane 16, which is not in its member mask"},
               {"partial", 16, 16, "lane 0 reads from lane 16"}};
  for (const auto& c : cases) {
    ASSERT_FALSE(kit.Run(c.kernel, {1, 1, 1}, {c.threads, 1, 1}, 0, out)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kInactiveShuffle);
    EXPECT_EQ(kit.fault.line, c.line) << c.kernel;
    EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << kit.fault.message;
  }
}

TEST(Warp, LanesWaitForEachOtherAcrossBranches) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 16) { s[t] = t; __syncwarp(); out[t] = s[t + 16]; }
  else { s[t] = t * 2; __syncwarp(); out[t] = s[t - 16]; }
})");
  const auto out = kit.Make<int>("out", 32, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], t < 16 ? (t + 16) * 2 : t - 16);
}

TEST(Warp, AtomicsOfAllKinds) {
  SimKit kit = SimKit::FromCuda(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(int* g, unsigned long long* l, float* f, double* d, __half2* h, __nv_bfloat162* b, unsigned* old) {
  __shared__ int s[8];
  __shared__ float sf;
  int t = threadIdx.x;
  if (t < 8) s[t] = 0;
  if (t == 0) sf = 0;
  __syncthreads();
  atomicAdd(g, 1); atomicMin(g + 1, t - 5); atomicMax(g + 2, t); atomicAnd(g + 3, ~t); atomicOr(g + 4, t); atomicXor(g + 5, t);
  old[t] = atomicInc((unsigned*)g + 6, 9); atomicDec((unsigned*)g + 7, 9);
  atomicCAS(g + 8, t, t + 1); if (t == 33) atomicExch(g + 9, 77);
  atomicAdd(l, 1ull << 40); atomicMax(l + 1, (unsigned long long)t << 33);
  atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(h, __half2(1, 2)); atomicAdd(b, __nv_bfloat162(1, 3));
  atomicAdd(&s[t & 7], t); atomicAdd(&sf, 1.0f);
  int* generic = t & 1 ? &s[t & 7] : g + 10;   // generic addresses, two spaces in one instruction
  atomicAdd(generic, 100);
  __syncthreads();
  if (t < 8) g[16 + t] = s[t];
  if (t == 0) f[1] = sf;
})");
  const auto g = kit.Make<int>("g", 32);
  const auto l = kit.Make<uint64_t>("l", 2);
  const auto f = kit.Make<float>("f", 2);
  const auto d = kit.Make<double>("d", 1);
  const auto h = kit.Make<uint32_t>("h", 1), b = kit.Make<uint32_t>("b", 1), old = kit.Make<uint32_t>("old", 64);
  g[3] = -1;
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, g, l, f, d, h, b, old)) << kit.fault.message;
  const int expected[11] = {64, -5, 63, ~63, 63, 0, 4, 6, 64, 77, 3200};
  for (size_t k = 0; k < 11; ++k) EXPECT_EQ(g[k], expected[k]) << k;
  EXPECT_EQ(old[15], 5u);
  EXPECT_EQ(l[0], 64ull << 40);
  EXPECT_EQ(l[1], 63ull << 33);
  EXPECT_EQ(f[0], 32.0f);
  EXPECT_EQ(f[1], 64.0f);
  EXPECT_EQ(d[0], 16.0);
  EXPECT_EQ(h[0], 0x5400u | 0x5800u << 16);  // 64 and 128
  EXPECT_EQ(b[0], 0x4280u | 0x4340u << 16);  // 64 and 192
  for (int k = 0; k < 8; ++k) EXPECT_EQ(g[static_cast<size_t>(16 + k)], 8 * k + 8 * 28 + (k & 1 ? 800 : 0));
  EXPECT_TRUE(kit.program().UsesGlobalAtomics("k"));
}

}  // namespace
}  // namespace warpwright::sim
