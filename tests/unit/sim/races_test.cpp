// Races in shared memory, each with its message and its line; and code that synchronizes by barriers, warps, locks and
// flags.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

using Kind = core::Fault::Kind;

constexpr const char* kRaces = R"(
extern "C" __global__ void missing_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void with_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void second_missing(int* out) {
  __shared__ int s[64];
  for (int i = 0; i < 3; ++i) {
    s[threadIdx.x] = threadIdx.x + i;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
  }
}
extern "C" __global__ void inside_warp(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void inside_warp_synced(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
  __syncwarp();
  s[threadIdx.x ^ 2] = 4;
}
extern "C" __global__ void write_after_read_in_warp(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
  s[threadIdx.x] = 4;
}
extern "C" __global__ void different_values(int* out) {
  __shared__ int s[4];
  s[threadIdx.x & 3] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
extern "C" __global__ void same_value(int* out) {
  __shared__ int s[4];
  s[threadIdx.x & 3] = 5;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
extern "C" __global__ void many_readers(int* out) {
  __shared__ int s[1];
  if (threadIdx.x == 0) s[0] = 3;
  __syncthreads();
  int v = s[0];
  if (threadIdx.x == 0) s[0] = 4;
  out[threadIdx.x] = v;
}
extern "C" __global__ void atomics(int* out) {
  __shared__ int s[2];
  if (threadIdx.x < 2) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[threadIdx.x & 1], 1);
  __syncthreads();
  out[threadIdx.x] = s[0];
}
extern "C" __global__ void atomic_and_plain(int* out) {
  __shared__ int s[2];
  if (threadIdx.x < 2) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[threadIdx.x & 1], 1);
  out[threadIdx.x] = s[0];
}
extern "C" __global__ void halves(int* out) {
  __shared__ short s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void tiles(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x, base = t & ~7;
  unsigned mask = 0xffu << (base & 31);
  s[t] = t;
  __syncwarp(mask);
  int v = s[base + ((t + 1) & 7)];
  __syncwarp(mask);
  s[base + ((t + 3) & 7)] = v;
  __syncwarp(mask);
  out[t] = s[t];
}
extern "C" __global__ void tiles_crossed(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x, base = t & ~7;
  s[t] = t;
  __syncwarp(0xffu << (base & 31));
  out[t] = s[t ^ 8];
}
extern "C" __global__ void old_reduction(int* out) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
  }
  out[t] = s[0];
}
)";

TEST(Races, SharedRaces) {
  SimKit kit = SimKit::FromCuda(kRaces);
  const struct {
    const char* kernel;
    int line;  // 0: no race
    const char* message;
  } cases[] = {
      {"missing_barrier", 4, "a write of s[32] while thread (31, 0, 0) reads it, without __syncthreads()"},
      {"with_barrier", 0, ""},
      {"second_missing", 18, "a read of s[31] while thread (31, 0, 0) writes it"},
      {"missing_barrier", 4, "; the kernel reads shared memory in line 5"},
      {"inside_warp", 24, "without __syncwarp()"},
      {"inside_warp_synced", 0, ""},
      {"write_after_read_in_warp", 39, "reads it, without __syncwarp()"},
      {"different_values", 43, "write different values to"},
      {"same_value", 0, ""},
      {"many_readers", 58, "reads it"},
      {"atomics", 0, ""},
      {"atomic_and_plain", 74, "updates it"},
      {"halves", 0, ""},
      {"tiles", 0, ""},
      {"tiles_crossed", 98, "without __syncwarp()"},
      {"old_reduction", 107, "without __syncwarp() in between: since Volta a warp's lanes need not run in step"}};
  for (const auto& c : cases) {
    const auto out = kit.Make<int>("out", 64, false);
    const bool ok = kit.Run(c.kernel, {2, 1, 1}, {64, 1, 1}, 0, out);
    if (c.line == 0) {
      EXPECT_TRUE(ok) << c.kernel << ": " << kit.fault.message;
      continue;
    }
    ASSERT_FALSE(ok) << c.kernel;
    EXPECT_EQ(kit.fault.kind, Kind::kSharedRace) << c.kernel << ": " << kit.fault.message;
    EXPECT_EQ(kit.fault.line, c.line) << c.kernel << ": " << kit.fault.message;
    EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << kit.fault.message;
    RunOptions unchecked;
    unchecked.checks = false;
    Machine machine = kit.Prepare(c.kernel, {2, 1, 1}, {64, 1, 1}, 0, unchecked, out);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(machine.Run(0, 2))) << c.kernel;
  }
}

constexpr const char* kLocks = R"(
#define WAIT(f) while (*(volatile int*)&(f) == 0) {}
#define TAKE(l) while (atomicCAS(&(l), 0, 1) != 0) {}
extern "C" __global__ void lock(int* out) {          // one lane of each warp
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    TAKE(l);
    __threadfence_block();
    sum += 1;
    __threadfence_block();
    atomicExch(&l, 0);
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
extern "C" __global__ void lock_of_lanes(int* out) {  // taken and released in one iteration, separately by each lane
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (*(volatile int*)&l == 0 && atomicExch(&l, 1) == 0) {
      __threadfence_block();
      sum += 1;
      __threadfence_block();
      *(volatile int*)&l = 0;
      done = true;
    }
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
extern "C" __global__ void lock_of_warps(int* out) {  // a lane takes it for its warp
  __shared__ int l, s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  if (threadIdx.x == 0) l = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); __threadfence_block(); }
  __syncwarp();
  s[31 - threadIdx.x % 32] += 1;
  __syncwarp();
  if (threadIdx.x % 32 == 0) { __threadfence_block(); atomicExch(&l, 0); }
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 32];
}
extern "C" __global__ void acquire_release(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  unsigned at = (unsigned)__cvta_generic_to_shared(&l);
  if (threadIdx.x % 32 == 0) {
    int old = 1;
    while (old) asm volatile("atom.acquire.cta.shared.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "r"(at) : "memory");
    sum += 1;
    asm volatile("st.release.cta.shared.b32 [%0], 0;" :: "r"(at) : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = sum;
}
extern "C" __global__ void flag(int* out, int setter) {  // either warp runs first
  __shared__ int f, data;
  if (threadIdx.x == 0) f = data = 0;
  __syncthreads();
  if (threadIdx.x == setter) { data = 7; __threadfence_block(); atomicExch(&f, 1); }
  if (threadIdx.x == 63 - setter) { WAIT(f); __threadfence_block(); out[0] = data; f = 0; data = 8; }
}
extern "C" __global__ void volatile_flag(int* out, int setter) {
  __shared__ int f, data;
  if (threadIdx.x == 0) f = data = 0;
  __syncthreads();
  if (threadIdx.x == setter) { data = 7; __threadfence_block(); *(volatile int*)&f = 1; }
  if (threadIdx.x == 63 - setter) { WAIT(f); __threadfence_block(); out[0] = data; }
}
extern "C" __global__ void there_and_back(int* out) {
  __shared__ int f, data;
  if (threadIdx.x == 0) f = data = 0;
  __syncthreads();
  for (int i = 0; i < 5; i++) {
    if (threadIdx.x == 32) { while (*(volatile int*)&f != 2 * i) {} __threadfence_block(); data++; __threadfence_block(); atomicExch(&f, 2 * i + 1); }
    if (threadIdx.x == 0) { while (*(volatile int*)&f != 2 * i + 1) {} __threadfence_block(); out[i] = data++; __threadfence_block(); atomicExch(&f, 2 * i + 2); }
  }
}
extern "C" __global__ void last_one_sums(int* out) {
  __shared__ int count, part[64];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  part[threadIdx.x] = threadIdx.x;
  __threadfence_block();
  if (atomicAdd(&count, 1) == 63) {
    __threadfence_block();
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += part[i];
    out[0] = sum;
    part[0] = 3;
    count = 0;
  }
}
extern "C" __global__ void last_one_writes(int* out) {  // all have read before
  __shared__ int count, value;
  if (threadIdx.x == 0) { count = 0; value = 5; }
  __syncthreads();
  out[threadIdx.x] = value;
  __threadfence_block();
  if (atomicAdd(&count, 1) == 63) { __threadfence_block(); value = 6; }
}
extern "C" __global__ void chain(int* out) {         // each passes on what it was passed
  __shared__ int f[3], data;
  if (threadIdx.x == 0) f[0] = f[1] = f[2] = data = 0;
  __syncthreads();
  int w = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    if (w == 0) data = 9;
    if (w > 0) { WAIT(f[w]); __threadfence_block(); }
    if (w == 2) out[0] = data;
    if (w < 2) { __threadfence_block(); atomicExch(&f[w + 1], 1); }
  }
}
// From here on, broken.
extern "C" __global__ void outside_before(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    sum += 1;
    TAKE(l);
    __threadfence_block();
    __threadfence_block();
    atomicExch(&l, 0);
  }
}
extern "C" __global__ void outside_after(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    TAKE(l);
    __threadfence_block();
    __threadfence_block();
    atomicExch(&l, 0);
    sum += 1;
  }
}
extern "C" __global__ void outside_of_other_lanes(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  for (bool done = false; !done;) {
    if (atomicExch(&l, 1) == 0) {
      __threadfence_block();
      out[0] = sum;
      __threadfence_block();
      atomicExch(&l, 0);
      sum = threadIdx.x;
      done = true;
    }
  }
}
extern "C" __global__ void no_fence_before_opening(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); __threadfence_block(); sum += 1; atomicExch(&l, 0); }
}
extern "C" __global__ void no_fence_after_taking(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); sum += 1; __threadfence_block(); atomicExch(&l, 0); }
}
extern "C" __global__ void no_fence(int* out) {
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); sum += 1; atomicExch(&l, 0); }
}
extern "C" __global__ void opened_without_fence(int* out) {  // by a volatile write, while others try
  __shared__ int l, sum;
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); sum += 1; *(volatile int*)&l = 0; }
}
extern "C" __global__ void two_locks(int* out) {
  __shared__ int l[2], sum;
  if (threadIdx.x == 0) l[0] = l[1] = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    int* mine = &l[threadIdx.x / 32 % 2];
    while (atomicCAS(mine, 0, 1) != 0) {}
    __threadfence_block();
    sum += 1;
    __threadfence_block();
    atomicExch(mine, 0);
  }
}
extern "C" __global__ void other_lanes_unsynced(int* out) {  // one lane has the lock, all lanes write
  __shared__ int l, s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  if (threadIdx.x == 0) l = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) { TAKE(l); __threadfence_block(); }
  s[threadIdx.x % 32] += 1;
  if (threadIdx.x % 32 == 0) { __threadfence_block(); atomicExch(&l, 0); }
}
extern "C" __global__ void flag_too_early(int* out) {
  __shared__ int f, data;
  if (threadIdx.x == 0) f = data = 0;
  __syncthreads();
  if (threadIdx.x == 0) { __threadfence_block(); atomicExch(&f, 1); data = 7; }
  if (threadIdx.x == 32) { WAIT(f); __threadfence_block(); out[0] = data; }
}
extern "C" __global__ void flag_not_waited_for(int* out) {  // reads once, and may read too early
  __shared__ int f, data;
  if (threadIdx.x == 0) f = data = 0;
  __syncthreads();
  if (threadIdx.x == 32) { __threadfence_block(); atomicExch(&f, 1); }
  if (threadIdx.x == 0) out[0] = *(volatile int*)&f;
}
extern "C" __global__ void fences_for_barriers(int* out) {
  __shared__ volatile int s[96];
  s[threadIdx.x] = 0;
  __syncthreads();
  __threadfence_block();
  s[threadIdx.x] = threadIdx.x;
  __threadfence_block();
  out[threadIdx.x] = s[(threadIdx.x + 32) % 96];
}
extern "C" __global__ void fences_for_syncwarp(int* out) {
  __shared__ volatile int s[96];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  __threadfence_block();
  s[threadIdx.x] += s[threadIdx.x ^ 16];
  out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void polled_histogram(int* out) {  // read by one warp before the others have counted
  __shared__ int bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 32], 1);
  __threadfence_block();
  out[threadIdx.x] = *(volatile int*)&bins[threadIdx.x % 32];
}
extern "C" __global__ void beside_a_lock(int* out) {  // the lock is correct, the tile next to it is not
  __shared__ int l, sum, s[96];
  if (threadIdx.x == 0) l = sum = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 32 == 0) { TAKE(l); __threadfence_block(); sum += 1; __threadfence_block(); atomicExch(&l, 0); }
  out[threadIdx.x] = s[95 - threadIdx.x];
}
)";

TEST(Races, LocksAndFlagsOfAtomicsOrder) {
  SimKit kit = SimKit::FromCuda(kLocks);
  const struct {
    const char* kernel;
    int argument, value;  // of out[0]
  } honest[] = {{"lock", 0, 3},           {"lock_of_lanes", 0, 96},  {"lock_of_warps", 0, 3}, {"acquire_release", 0, 3},
                {"flag", 0, 7},           {"flag", 63, 7},           {"volatile_flag", 0, 7}, {"volatile_flag", 63, 7},
                {"there_and_back", 0, 1}, {"last_one_writes", 0, 5}, {"chain", 0, 9}};
  for (const auto& c : honest) {
    const auto out = kit.Make<int>("out", 96, false);
    const uint32_t threads = std::string_view(c.kernel).starts_with("last") ? 64 : 96;
    const bool ok = std::string_view(c.kernel).ends_with("flag")
                        ? kit.Run(c.kernel, {2, 1, 1}, {threads, 1, 1}, 0, out, c.argument)
                        : kit.Run(c.kernel, {2, 1, 1}, {threads, 1, 1}, 0, out);
    EXPECT_TRUE(ok) << c.kernel << ": " << kit.fault.line << ": " << kit.fault.message;
    EXPECT_EQ(ok ? out[0] : c.value, c.value) << c.kernel;
  }
  const auto out = kit.Make<int>("out", 96, false);
  ASSERT_TRUE(kit.Run("last_one_sums", {2, 1, 1}, {64, 1, 1}, 0, out)) << kit.fault.line << kit.fault.message;
  EXPECT_EQ(out[0], 2016);
  const struct {
    const char* kernel;
    const char* line;  // where it must stop
    const char* message;
  } broken[] = {{"outside_before", "sum += 1", "writes it, without __syncthreads()"},
                {"outside_after", "sum += 1", "writes it, without __syncthreads()"},
                {"outside_of_other_lanes", "out[0] = sum", "writes it, without __syncwarp()"},
                {"no_fence_before_opening", "sum += 1", "__threadfence_block() before it is set and after it was seen"},
                {"no_fence_after_taking", "sum += 1", "__threadfence_block() before it is set and after it was seen"},
                {"no_fence", "sum += 1", "__threadfence_block() before it is set and after it was seen"},
                {"opened_without_fence", "TAKE(l)", "writes it"},
                {"two_locks", "sum += 1", "writes it"},
                {"other_lanes_unsynced", "s[threadIdx.x % 32] += 1", "writes it"},
                {"flag_too_early", "out[0] = data", "writes it"},
                {"flag_not_waited_for", "out[0] = *", "may or may not have written it"},
                {"fences_for_barriers", "out[threadIdx.x] = s", "may or may not have written it"},
                {"fences_for_syncwarp", "s[threadIdx.x] += s",
                 "reads it, without __syncwarp() in between: since Volta a warp's lanes need not run in step"},
                {"polled_histogram", "out[threadIdx.x] = *", "may or may not have written it"},
                {"beside_a_lock", "out[threadIdx.x] = s", ""}};
  for (const auto& c : broken) {
    const auto none = kit.Make<int>("none", 96, false);
    ASSERT_FALSE(kit.Run(c.kernel, {2, 1, 1}, {96, 1, 1}, 0, none)) << c.kernel;
    EXPECT_EQ(kit.fault.kind, Kind::kSharedRace) << c.kernel << ": " << kit.fault.message;
    EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << c.kernel << ": " << kit.fault.message;
    std::istringstream source(kLocks);
    std::string line;
    for (int l = 0; l < kit.fault.line; ++l) std::getline(source, line);
    EXPECT_NE(line.find(c.line), std::string::npos) << c.kernel << ": " << line << ": " << kit.fault.message;
  }
}

}  // namespace
}  // namespace warpwright::sim
