// wgmma: products of a warpgroup from swizzled tiles, what they need around them, and what is counted. What they
// compute to the last bit, and all layouts: warpgroup_golden_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

constexpr const char* kHelpers = R"(
#include <cuda_fp16.h>
typedef unsigned long long u64;
__device__ unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// 128 bytes of swizzle; panels of rows that are neighbours are `leading` bytes apart.
__device__ u64 describe(const void* p, int leading) {
  return 1ull << 62 | 64ull << 32 | (u64)(leading / 16) << 16 | address(p) / 16;
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }
template <int A, int B> __device__ void multiply(float (&d)[8], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, %10, %11;"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
    : "l"(a), "l"(b), "n"(A), "n"(B));
}
)";

SimKit Compiled(const std::string& source) { return SimKit(CompileToPtx(kHelpers + source, "compute_90a")); }

// 64 x 16 results of 64 terms, both factors in both layouts.
TEST(Warpgroup, MultipliesSwizzledTiles) {
  SimKit kit = Compiled(R"(
template <bool kAlong> __device__ int place(int row, int term) {
  return kAlong ? row * 64 + ((term / 8) ^ (row % 8)) * 8 + term % 8 : term * 64 + ((row / 8) ^ (term % 8)) * 8 + row % 8;
}
template <bool kA, bool kB> __device__ void run(float* out, const __half* a, const __half* b) {
  __shared__ __align__(1024) __half left[64 * 64], right[64 * 64];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) left[place<kA>(i / 64, i % 64)] = a[i];
  for (int i = threadIdx.x; i < 64 * 64; i += 128) right[place<kB>(i / 64, i % 64)] = i < 1024 ? b[i] : __half(0.0f);
  proxy_fence();
  __syncthreads();
  float d[8] = {};
  product_fence();
  for (int k = 0; k < 4; ++k)
    multiply<!kA, !kB>(d, describe(left, 0) + (kA ? 2 : 128) * k, describe(right, 1024) + (kB ? 2 : 128) * k);
  commit();
  wait<0>();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int j = 0; j < 2; ++j)
    for (int e = 0; e < 4; ++e) out[(row + e / 2 * 8) * 16 + column + e % 2 + 8 * j] = d[4 * j + e];
}
extern "C" __global__ void along_along(float* out, const __half* a, const __half* b) { run<true, true>(out, a, b); }
extern "C" __global__ void along_across(float* out, const __half* a, const __half* b) { run<true, false>(out, a, b); }
extern "C" __global__ void across_along(float* out, const __half* a, const __half* b) { run<false, true>(out, a, b); }
extern "C" __global__ void across_across(float* out, const __half* a, const __half* b) { run<false, false>(out, a, b); }
)");
  const auto half = [](int v) -> uint16_t {  // small integers
    if (v == 0) return 0;
    const int exponent = static_cast<int>(std::log2(std::abs(v)));
    return static_cast<uint16_t>((v < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                                 ((std::abs(v) << (10 - exponent)) & 0x3ff));
  };
  const auto left = [](size_t row, size_t term) { return static_cast<int>(row * 7 + term * 3) % 17 - 8; };
  const auto right = [](size_t column, size_t term) { return static_cast<int>(column * 5 + term * 11) % 13 - 6; };
  std::vector<uint16_t> a(64 * 64), b(16 * 64);
  for (size_t i = 0; i < a.size(); ++i) a[i] = half(left(i / 64, i % 64));
  for (size_t i = 0; i < b.size(); ++i) b[i] = half(right(i / 64, i % 64));
  const auto in_a = kit.Make<uint16_t>("a", a, true), in_b = kit.Make<uint16_t>("b", b, true);
  for (const char* kernel : {"along_along", "along_across", "across_along", "across_across"}) {
    const auto out = kit.Make<float>("out", 64 * 16, false);
    ASSERT_TRUE(kit.Run(kernel, {1, 1, 1}, {128, 1, 1}, 0, out, in_a, in_b)) << kit.fault.message;
    for (size_t row = 0; row < 64; ++row)
      for (size_t column = 0; column < 16; ++column) {
        int sum = 0;
        for (size_t k = 0; k < 64; ++k) sum += left(row, k) * right(column, k);
        ASSERT_EQ(out[row * 16 + column], static_cast<float>(sum)) << kernel << " " << row << " " << column;
      }
    EXPECT_EQ(kit.counters.flops_tensor, 2u * 64 * 16 * 64);
  }
}

// One product; what stands at the places marks what a program gets wrong.
std::string WithPlaces(const std::string& before_barrier, const std::string& before, const std::string& between,
                       const std::string& after) {
  return R"(
extern "C" __global__ void product(float* out, const uint4* in) {
  __shared__ __align__(1024) uint4 tile[640];
  const int t = threadIdx.x;
  for (int i = t; i < 640; i += 128) tile[i] = in[i];
  )" + before_barrier +
         "\n__syncthreads();\nfloat d[8] = {};\n" + before +
         "\nmultiply<0, 0>(d, describe(tile, 0), describe(tile + 512, 0));\n" + between + "\n" + after + R"(
  for (int j = 0; j < 8; ++j) out[t * 8 + j] = d[j];
})";
}

TEST(Warpgroup, SaysWhatIsMissing) {
  const char* const kTouch = "asm volatile(\"add.f32 %0, %0, 0f3f800000;\" : \"+f\"(d[0]));";
  const std::string touch = kTouch, done = "commit(); wait<0>();";
  const struct {
    const char* name;
    std::string before_barrier, before, between, after;
    unsigned threads;
    Kind kind;
    const char* message;  // nullptr: nothing is missing
  } cases[] = {
      {"nothing", "proxy_fence();", "product_fence();", "", done, 128, Kind::kTrap, nullptr},
      {"the reader's own proxy fence", "", "proxy_fence(); product_fence();", "", done, 128, Kind::kTrap, nullptr},
      {"touched at the right times", "proxy_fence();", touch + "product_fence();", "", done + touch, 128, Kind::kTrap,
       nullptr},
      {"proxy fence", "", "product_fence();", "", done, 128, Kind::kSharedRace, "missing proxy fence"},
      {"proxy fence after a later write", "proxy_fence(); tile[t] = in[t + 1];", "product_fence();", "", done, 128,
       Kind::kSharedRace, "missing proxy fence"},
      {"fence", "proxy_fence();", "", "", done, 128, Kind::kUninitializedRead, "missing wgmma.fence: none"},
      {"fence after a write", "proxy_fence();", "product_fence();" + touch, "", done, 128, Kind::kUninitializedRead,
       "missing wgmma.fence: registers"},
      {"wait", "proxy_fence();", "product_fence();", "", "commit();", 128, Kind::kUninitializedRead,
       "before wgmma.wait_group"},
      {"commit", "proxy_fence();", "product_fence();", "", "wait<0>();", 128, Kind::kUninitializedRead,
       "before wgmma.wait_group"},
      {"wait for the last group", "proxy_fence();", "product_fence();", "", "commit(); wait<1>();", 128,
       Kind::kUninitializedRead, "before wgmma.wait_group"},
      {"wait before a touch", "proxy_fence();", "product_fence();", touch, done, 128, Kind::kUninitializedRead,
       "before wgmma.wait_group"},
      {"wait before an overwrite", "proxy_fence();", "product_fence();", "commit(); __syncthreads(); tile[t] = in[t];",
       "wait<0>();", 128, Kind::kSharedRace, "before wgmma.wait_group"},
      {"barrier before an overwrite", "proxy_fence();", "product_fence();", "",
       done + "if (t < 32) tile[511 - t] = in[t];", 128, Kind::kSharedRace, "race on shared memory"},
      {"warps", "proxy_fence();", "product_fence();", "", done, 96, Kind::kInactiveShuffle, "four warps"},
  };
  for (const auto& c : cases) {
    SimKit kit = Compiled(WithPlaces(c.before_barrier, c.before, c.between, c.after));
    const auto in = kit.Make<uint32_t>("in", std::vector<uint32_t>(4 * 641, 0x3c003c00), true);
    const auto out = kit.Make<float>("out", 128 * 8, false);
    const bool ok = kit.Run("product", {1, 1, 1}, {c.threads, 1, 1}, 0, out, in);
    EXPECT_EQ(ok, c.message == nullptr) << c.name << ": " << kit.fault.message;
    if (ok || !c.message) continue;
    EXPECT_EQ(kit.fault.kind, c.kind) << c.name << ": " << kit.fault.message;
    EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << c.name << ": " << kit.fault.message;
  }
}

TEST(Warpgroup, FindsOverwrittenPartsOfA) {
  const auto source = [](const std::string& after) {
    return R"(
extern "C" __global__ void product(float* out, const uint4* in) {
  __shared__ __align__(1024) uint4 tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  proxy_fence();
  __syncthreads();
  float d[4] = {};
  asm volatile("{.reg .b32 a<4>; mov.b32 a0, 1; mov.b32 a1, 1; mov.b32 a2, 1; mov.b32 a3, 1;\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {a0, a1, a2, a3}, %4, 1, 1, 1, 0;\n"
      "wgmma.commit_group.sync.aligned;\n)" +
           after + R"(}"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(describe(tile, 0)));
  for (int j = 0; j < 4; ++j) out[t * 4 + j] = d[j];
})";
  };
  for (const bool right : {true, false}) {
    const std::string wait = "wgmma.wait_group.sync.aligned 0;", write = "mov.b32 a2, 2;";
    SimKit kit = Compiled(source(right ? wait + write : write + wait));
    const auto in = kit.Make<uint32_t>("in", std::vector<uint32_t>(4 * 128, 0x3c003c00), true);
    const auto out = kit.Make<float>("out", 128 * 4, false);
    EXPECT_EQ(kit.Run("product", {1, 1, 1}, {128, 1, 1}, 0, out, in), right) << kit.fault.message;
    if (right) continue;
    EXPECT_NE(kit.fault.message.find("a part of A"), std::string::npos) << kit.fault.message;
  }
}

TEST(Warpgroup, DescriptorsOutOfBounds) {
  SimKit kit = Compiled(R"(
extern "C" __global__ void product(float* out, int at) {
  __shared__ __align__(1024) uint4 tile[640];
  for (int i = threadIdx.x; i < 640; i += 128) tile[i] = uint4{};
  proxy_fence();
  __syncthreads();
  float d[8] = {};
  product_fence();
  multiply<0, 0>(d, describe(tile, 0), describe(tile, 0) + at / 16);
  commit();
  wait<0>();
  out[threadIdx.x] = d[0];
})");
  const auto out = kit.Make<float>("out", 128, false);
  EXPECT_TRUE(kit.Run("product", {1, 1, 1}, {128, 1, 1}, 0, out, 8192)) << kit.fault.message;
  EXPECT_FALSE(kit.Run("product", {1, 1, 1}, {128, 1, 1}, 0, out, 9216));
  EXPECT_EQ(kit.fault.kind, Kind::kOutOfBounds) << kit.fault.message;
}

}  // namespace
}  // namespace warpwright::sim
