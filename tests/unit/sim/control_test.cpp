// Divergence, barriers, calls and infinite loops.
#include <gtest/gtest.h>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

// The others go on behind it, once.
TEST(Control, SomeLanesReturnUnderAGuard) {
  SimKit kit(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
  .reg .pred %p;
  .reg .b32 %t;
  .reg .b64 %a;
  ld.param.u64 %a, [a];
  mov.u32 %t, %tid.x;
  setp.gt.u32 %p, %t, 3;
  red.global.add.u32 [%a], 1;
  @%p ret;
  red.global.add.u32 [%a+4], 1;
})");
  auto count = kit.Make<uint32_t>("count", 2);
  ASSERT_TRUE(kit.Run("k", {1}, {32}, 0, count)) << kit.fault.message;
  EXPECT_EQ(count[0], 32u);
  EXPECT_EQ(count[1], 4u);
}

TEST(Control, NestedDivergenceAndLoopsGiveEachThreadItsOwnPath) {
  SimKit kit = SimKit::FromCuda(R"(
__device__ int path(int t) {
  int v = 0;
  for (int i = 0; i < t % 7; ++i) {
    if (i == 4) break;
    if ((t + i) % 3 == 0) { v += 10; continue; }
    switch (t % 5) { case 0: v += 1; break; case 1: v += 2; case 2: v *= 3; break; default: if (i & 1) v ^= 5; else v -= 7; }
    while (v > 50) v /= 2;
  }
  if (t % 11 == 0) return -1;
  return v;
}
extern "C" __global__ void k(int* out, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  out[t] = path(t);
}
)");
  auto path = [](int t) {
    int v = 0;
    for (int i = 0; i < t % 7; ++i) {
      if (i == 4) break;
      if ((t + i) % 3 == 0) {
        v += 10;
        continue;
      }
      switch (t % 5) {
        case 0: v += 1; break;
        case 1: v += 2; [[fallthrough]];
        case 2: v *= 3; break;
        default:
          if (i & 1) v ^= 5;
          else v -= 7;
      }
      while (v > 50) v /= 2;
    }
    return t % 11 == 0 ? -1 : v;
  };
  const auto out = kit.Make<int>("out", 1000, false);
  ASSERT_TRUE(kit.Run("k", {8, 1, 1}, {128, 1, 1}, 0, out, 1000)) << kit.fault.message;
  for (int t = 0; t < 1000; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], path(t)) << t;
  EXPECT_GT(kit.counters.divergent_branches, 0u);
}

TEST(Control, LanesMeetAgainAfterABranch) {
  // Without reconvergence the ballot would see only one side.
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(unsigned* out, int* in) {
  int t = threadIdx.x, v = in[t];
  if (v & 1) { v = v * 3 + in[(t + 1) & 31]; } else { for (int i = 0; i < v; ++i) v -= in[i & 31] & 1; }
  out[t] = __activemask();
  in[t] = v;
})");
  const auto out = kit.Make<uint32_t>("out", 32);
  const auto in = kit.Make<int>("in", 32);
  for (int t = 0; t < 32; ++t) in[static_cast<size_t>(t)] = t;
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out, in)) << kit.fault.message;
  for (size_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], UINT32_MAX);
}

// Where lanes part at __activemask(), what needs all of them still waits for all of them, and what needs those of the
// mask runs twice.
TEST(Control, LanesMayPartWhereTheyAskWhoIsActive) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(unsigned* out, unsigned* places) {
  unsigned t = threadIdx.x, mask = 0;
  if (t % 4 != 3) {
    mask = __activemask();
    unsigned leader = __ffs(mask) - 1, first = 0;
    if (t == leader) first = atomicAdd(places, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    out[32 + t] = first + __popc(mask & ((1u << t) - 1));
  }
  out[t] = mask;
  out[64 + t] = __ballot_sync(~0u, mask != 0);
})");
  for (const bool split : {false, true}) {
    const auto out = kit.Make<uint32_t>("out", 96, false);
    const auto places = kit.Make<uint32_t>("places", 1);
    kit.options.split_lanes = split;
    ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out, places)) << kit.fault.message;
    EXPECT_EQ(places[0], 24u);
    std::vector<uint32_t> taken;
    for (uint32_t t = 0; t < 32; ++t) {
      EXPECT_EQ(out[64 + t], 0x77777777u);
      if (t % 4 == 3) continue;
      EXPECT_EQ(out[t], !split ? 0x77777777u : t < 16 ? 0x7777u : 0x77770000u) << t;
      taken.push_back(out[32 + t]);
    }
    for (uint32_t place = 0; place < 24; ++place) EXPECT_EQ(std::count(taken.begin(), taken.end(), place), 1);
  }
}

TEST(Control, APredicateMayBeSourceAndResult) {
  SimKit kit(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
mov.u32 %r0, %tid.x;
setp.gt.u32 %p0, %r0, 7;
setp.lt.xor.u32 %p0|%p1, %r0, 20, %p0;
selp.u32 %r1, 1, 0, %p0;
selp.u32 %r2, 2, 0, %p1;
add.u32 %r1, %r1, %r2;
ld.param.u64 %rd0, [out];
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd0, %rd0, %rd1;
st.global.u32 [%rd0], %r1;
ret;
})");
  const auto out = kit.Make<uint32_t>("out", 32, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, out)) << kit.fault.message;
  for (uint32_t t = 0; t < 32; ++t) {
    const bool before = t > 7, less = t < 20;
    EXPECT_EQ(out[t], (less != before ? 1u : 0u) + (!less != before ? 2u : 0u)) << t;
  }
}

TEST(Control, SpinLockWithinAWarpMakesProgress) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  *(volatile int*)count = *(volatile int*)count + 1;
  __threadfence();
  atomicExch(lock, 0);
})");
  kit.options.instruction_limit = 200'000'000;
  const auto lock = kit.Make<int>("lock", 1), count = kit.Make<int>("count", 1);
  ASSERT_TRUE(kit.Run("k", {2, 1, 1}, {64, 1, 1}, 0, lock, count)) << kit.fault.message;
  EXPECT_EQ(count[0], 128);
}

TEST(Control, WarpsThatWaitForEachOtherMakeProgress) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(volatile int* flag, int* out) {
  if (threadIdx.x < 32) { while (*flag == 0) {} out[threadIdx.x] = *flag; }
  else if (threadIdx.x == 64) *flag = 7;
})");
  const auto flag = kit.Make<int>("flag", 1), out = kit.Make<int>("out", 32);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {96, 1, 1}, 0, flag, out)) << kit.fault.message;
  EXPECT_EQ(out[31], 7);
}

TEST(Control, EndlessLoopReachesTheLimit) {
  SimKit kit = SimKit::FromCuda(R"(extern "C" __global__ void k(volatile int* p) {
  while (*p == 0) {
  }
})");
  kit.options.instruction_limit = 1'000'000;
  const auto p = kit.Make<int>("p", 1);
  ASSERT_FALSE(kit.Run("k", {1, 1, 1}, {32, 1, 1}, 0, p));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kInstructionLimit);
  EXPECT_EQ(kit.fault.line, 2);
}

TEST(Control, ReturnBeforeABarrierIsNoDivergence) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(int* out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();
  out[t] = s[n - 1 - t];
})");
  for (int n : {64, 50, 33, 32, 7}) {
    const auto out = kit.Make<int>("out", std::vector<int>(64, -1));
    ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, out, n)) << kit.fault.message;
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], t < n ? n - 1 - t : -1);
  }
}

TEST(Control, StoreAndReturnBeforeABarrierIsNoDivergence) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void k(int* out, int* rest, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) {
    rest[t] = 7;
    return;
  }
  s[t] = t;
  __syncthreads();
  out[t] = s[n - 1 - t];
}
extern "C" __global__ void joined(int* out, int n) {  // the compiler merges both stores after the barrier
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= n) {
    out[t] = 7;
    return;
  }
  s[t] = t;
  __syncthreads();
  out[t] = s[n - 1 - t];
})");
  for (int n : {64, 50, 33, 32, 7}) {
    const auto joined = kit.Make<int>("joined", std::vector<int>(64, -1));
    ASSERT_TRUE(kit.Run("joined", {1, 1, 1}, {64, 1, 1}, 0, joined, n)) << kit.fault.message;
    for (int t = 0; t < 64; ++t) EXPECT_EQ(joined[static_cast<size_t>(t)], t < n ? n - 1 - t : 7);
    const auto out = kit.Make<int>("out", std::vector<int>(64, -1)),
               rest = kit.Make<int>("rest", std::vector<int>(64, -1));
    ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, out, rest, n)) << kit.fault.message;
    for (int t = 0; t < 64; ++t) {
      EXPECT_EQ(out[static_cast<size_t>(t)], t < n ? n - 1 - t : -1);
      EXPECT_EQ(rest[static_cast<size_t>(t)], t < n ? -1 : 7);
    }
  }
}

TEST(Control, DivergentBarrierIsReported) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void lanes(int* out) {
  if (threadIdx.x < 16)
    __syncthreads();
  out[threadIdx.x] = 1;
}
extern "C" __global__ void twice(int* out) {  // too few lanes arrive at the second barrier
  __shared__ int s[64];
  int t = threadIdx.x, v = 7;
  s[t] = t;
  if (t % 32 < 16) {
    __syncthreads();
    v = s[63 - t];
  }
  __syncthreads();
  out[t] = v;
}
extern "C" __global__ void warps(int* out) {
  if (threadIdx.x < 32) __syncthreads();
  else asm volatile("bar.sync 1;");
  out[threadIdx.x] = 1;
})");
  const auto out = kit.Make<int>("out", 64);
  ASSERT_FALSE(kit.Run("lanes", {1, 1, 1}, {64, 1, 1}, 0, out));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kDivergentBarrier);
  EXPECT_EQ(kit.fault.line, 4);
  EXPECT_NE(kit.fault.message.find("0x0000ffff"), std::string::npos) << kit.fault.message;
  ASSERT_FALSE(kit.Run("twice", {1, 1, 1}, {64, 1, 1}, 0, out));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kDivergentBarrier) << kit.fault.message;
  ASSERT_FALSE(kit.Run("warps", {1, 1, 1}, {64, 1, 1}, 0, out));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kDivergentBarrier) << kit.fault.message;
}

TEST(Control, NamedAndReducingBarriers) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __global__ void named(int* out) {  // warps 0 and 1 produce for 2 and 3, in pairs
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < 64) {
    s[t] = t * 2;
    asm volatile("bar.arrive %0, 64;" :: "r"(1 + t / 32) : "memory");
  } else {
    asm volatile("bar.sync %0, 64;" :: "r"(1 + (t - 64) / 32) : "memory");
    out[t - 64] = s[t - 64];
  }
}
extern "C" __global__ void reduce(int* out) {
  int t = threadIdx.x;
  int n = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 96), any = __syncthreads_or(t == 70);
  out[t] = n * 4 + (all ? 2 : 0) + (any ? 1 : 0);
})");
  const auto out = kit.Make<int>("out", 128, false);
  ASSERT_TRUE(kit.Run("named", {1, 1, 1}, {128, 1, 1}, 0, out)) << kit.fault.message;
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], t * 2);
  ASSERT_TRUE(kit.Run("reduce", {1, 1, 1}, {96, 1, 1}, 0, out)) << kit.fault.message;
  for (size_t t = 0; t < 96; ++t) EXPECT_EQ(out[t], 32 * 4 + 2 + 1);
}

TEST(Control, CallsRecursionAndStructs) {
  SimKit kit = SimKit::FromCuda(R"(
struct Pair { float a; int b[3]; double d; };
__device__ __noinline__ Pair make(float a, int b) { Pair p; p.a = a; p.b[0] = b; p.b[1] = b * 2; p.b[2] = b * 3; p.d = a * 0.5; return p; }
__device__ __noinline__ float total(Pair p, const int* which) { return p.a + p.b[*which] + (float)p.d; }
extern "C" __global__ void k(float* out) {
  int t = threadIdx.x, which = t % 3;
  Pair p = make(t, t + 1);
  if (t & 1) p = make(p.a + 1, 2);
  out[t] = total(p, &which);
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursive(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }
)");
  const auto out = kit.Make<float>("out", 64, false);
  ASSERT_TRUE(kit.Run("k", {1, 1, 1}, {64, 1, 1}, 0, out)) << kit.fault.message;
  for (int t = 0; t < 64; ++t) {
    const float a = static_cast<float>(t & 1 ? t + 1 : t);
    const int b = t & 1 ? 2 : t + 1;
    EXPECT_EQ(out[static_cast<size_t>(t)], a + static_cast<float>(b * (t % 3 + 1)) + a * 0.5f) << t;
  }
  const auto ints = kit.Make<int>("ints", 32, false);
  ASSERT_FALSE(kit.Run("recursive", {1, 1, 1}, {32, 1, 1}, 0, ints));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kNotSimulated);
  EXPECT_NE(kit.fault.message.find("calls itself"), std::string::npos) << kit.fault.message;
}

TEST(Control, PrintfAssertAndTrap) {
  SimKit kit = SimKit::FromCuda(R"(
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void print(int n) {
  if (threadIdx.x % 16 == 3) printf("t=%d %s x=%.2f %lld %c %% %5u|%-4x|\n", threadIdx.x, n > 1 ? "many" : "one", n * 1.5, 1ll << 40, 'z', 7u, 255);
}
extern "C" __global__ void check(int n) {
  if (threadIdx.x == 5) __assertfail("n < 3", "kernel.cu", 7, "check", 1);
}
extern "C" __global__ void trap() { if (threadIdx.x == 9)
  __trap(); }
)");
  ASSERT_TRUE(kit.Run("print", {1, 1, 1}, {32, 1, 1}, 0, 2)) << kit.fault.message;
  EXPECT_EQ(kit.printed,
            "t=3 many x=3.00 1099511627776 z %     7|ff  |\nt=19 many x=3.00 1099511627776 z %     7|ff  |\n");
  ASSERT_FALSE(kit.Run("check", {1, 1, 1}, {32, 1, 1}, 0, 2));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kTrap);
  EXPECT_EQ(kit.fault.message, "assertion failed: n < 3 at kernel.cu:7");
  EXPECT_EQ(kit.fault.thread[0], 5u);
  ASSERT_FALSE(kit.Run("trap", {1, 1, 1}, {32, 1, 1}, 0));
  EXPECT_EQ(kit.fault.kind, core::Fault::Kind::kTrap);
  EXPECT_EQ(kit.fault.thread[0], 9u);
  EXPECT_EQ(kit.fault.line, 10);
}

TEST(Control, RunsOfPartOfTheGridAddUp) {
  SimKit kit = SimKit::FromCuda(R"(extern "C" __global__ void k(int* out) {
  out[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z + 1000 * threadIdx.y;
})");
  const auto out = kit.Make<int>("out", 24, false);
  Machine a = kit.Prepare("k", {4, 3, 2}, {1, 2, 1}, 0, kit.options, out);
  Machine b = kit.Prepare("k", {4, 3, 2}, {1, 2, 1}, 0, kit.options, out);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(b.Run(10, 24)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(a.Run(0, 4)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(a.Run(4, 10)));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) EXPECT_EQ(out[static_cast<size_t>((z * 3 + y) * 4 + x)], x + 10 * y + 100 * z + 1000);
  core::Counters sum = a.counters();
  sum.Add(b.counters());
  ASSERT_TRUE(kit.Run("k", {4, 3, 2}, {1, 2, 1}, 0, out));
  EXPECT_TRUE(sum == kit.counters);
}

TEST(Control, LaunchesThatCannotBeAreRefused) {
  SimKit kit = SimKit::FromCuda(
      R"(extern "C" __global__ void __launch_bounds__(128) k(int* out) { __shared__ int s[1000]; s[threadIdx.x] = 1; out[0] = s[0]; })");
  std::vector<std::byte> eight(8);
  const struct {
    Launch launch;
    const char* message;
  } cases[] = {{{"nothing", {1, 1, 1}, {1, 1, 1}, 0, eight}, "no kernel"},
               {{"k", {1, 1, 1}, {256, 1, 1}, 0, eight}, "compiled for 128"},
               {{"k", {1, 1, 1}, {0, 1, 1}, 0, eight}, "0 threads"},
               {{"k", {0, 1, 1}, {1, 1, 1}, 0, eight}, "grid"},
               {{"k", {1, 1, 1}, {1, 1, 1}, 0, {}}, "parameters"},
               {{"k", {1, 1, 1}, {1, 1, 1}, 230'000, eight}, "shared memory"}};
  for (const auto& c : cases) {
    const auto machine = Machine::Create(kit.program(), kit.memory(), c.launch, {});
    ASSERT_FALSE(machine.has_value());
    EXPECT_NE(machine.error().message.find(c.message), std::string::npos) << machine.error().message;
  }
}

}  // namespace
}  // namespace warpwright::sim
