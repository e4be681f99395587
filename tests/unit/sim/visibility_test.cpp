// What a block may see of what others write in the same launch (exec/visibility.h).
#include "sim/exec/visibility.h"

#include <gtest/gtest.h>

#include "tests/support/sim_kit.h"

namespace warpwright::sim {
namespace {

// Each block but the last leaves its number; the last to arrive adds them up.
constexpr const char* kKernels = R"(
#define LAST(name, write, fence, read)                                                      \
  extern "C" __global__ void name(int* out, int* parts, unsigned* arrived) {                \
    __shared__ bool last;                                                                   \
    if (threadIdx.x == 0) {                                                                 \
      write;                                                                                \
      fence;                                                                                \
      last = atomicAdd(arrived, 1u) == gridDim.x - 1;                                       \
    }                                                                                       \
    __syncthreads();                                                                        \
    if (!last || threadIdx.x != 0) return;                                                  \
    int sum = 0;                                                                            \
    for (int b = 0; b < gridDim.x; ++b) sum += read;                                        \
    *out = sum;                                                                             \
  }
LAST(fenced, parts[blockIdx.x] = blockIdx.x, __threadfence(), parts[b])
LAST(fenced_volatile, parts[blockIdx.x] = blockIdx.x, __threadfence(), *(volatile int*)&parts[b])
LAST(fenced_system, parts[blockIdx.x] = blockIdx.x, __threadfence_system(), parts[b])
LAST(released, parts[blockIdx.x] = blockIdx.x,
     asm volatile("fence.acq_rel.gpu;" ::: "memory"), parts[b])
LAST(no_fence, parts[blockIdx.x] = blockIdx.x, , parts[b])
LAST(no_fence_volatile, parts[blockIdx.x] = blockIdx.x, , *(volatile int*)&parts[b])
LAST(fence_of_block, parts[blockIdx.x] = blockIdx.x, __threadfence_block(), parts[b])
LAST(fence_too_early, __threadfence(), parts[blockIdx.x] = blockIdx.x, parts[b])
LAST(volatile_write, *(volatile int*)&parts[blockIdx.x] = blockIdx.x, , *(volatile int*)&parts[b])
LAST(atomic_write, atomicExch(&parts[blockIdx.x], (int)blockIdx.x), , parts[b])
LAST(atomic_read, parts[blockIdx.x] = blockIdx.x, , atomicAdd(&parts[b], 0))
LAST(read_only_path, parts[blockIdx.x] = blockIdx.x, __threadfence(), __ldg(&parts[b]))
LAST(read_only_counts, atomicAdd_block(parts + blockIdx.x, 1), __threadfence(), __ldg(&parts[b]))

// The threads leave their numbers, and the first of them executes the fence.
#define ALL(name, before, after)                                                            \
  extern "C" __global__ void name(int* out, int* parts, unsigned* arrived) {                \
    __shared__ bool last;                                                                   \
    if (threadIdx.x < 8) parts[8 * blockIdx.x + threadIdx.x] = threadIdx.x;                 \
    before;                                                                                 \
    if (threadIdx.x == 0) __threadfence();                                                  \
    after;                                                                                  \
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;                   \
    __syncthreads();                                                                        \
    if (last && threadIdx.x < 8) out[0] = parts[threadIdx.x];                               \
  }
ALL(fence_behind_barrier, __syncthreads(), )
ALL(fence_before_barrier, , __syncthreads())
ALL(fence_behind_warp, __syncwarp(), )
extern "C" __global__ void fence_of_each(int* out, int* parts, unsigned* arrived) {
  __shared__ bool last;
  parts[32 * (blockIdx.x % 2) + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (last) out[0] = parts[threadIdx.x];
}

extern "C" __global__ void own_results(int* out, int* parts, unsigned*) {
  int i = blockIdx.x * 16 + threadIdx.x % 16;
  if (threadIdx.x < 16) parts[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = parts[i + 1];
}
// What blocks say to each other, and what they do not: block 0 does `first`, and the others `then`.
#define TURNS(name, first, then)                                                            \
  extern "C" __global__ void name(int* out, int* parts, unsigned* arrived) {                \
    __shared__ unsigned seen;                                                               \
    if (blockIdx.x == 0) { first; } else { then; }                                          \
    if (threadIdx.x == 64) out[0] = seen;                                                   \
  }
#define SAY(how) __threadfence(); __syncthreads(); if (threadIdx.x == 0) how
#define HEAR(how) if (threadIdx.x == 0) while ((seen = how) == 0); __syncthreads()
TURNS(overwritten, if (threadIdx.x == 0) out[0] = parts[5],
      if (threadIdx.x == 0 && blockIdx.x == 2) parts[5] = 1)
TURNS(overwritten_behind_ticket, if (threadIdx.x == 0) out[0] = parts[5]; SAY(atomicAdd(arrived, 1u)),
      HEAR(atomicAdd(arrived, 1u)); if (threadIdx.x == 1 && blockIdx.x == 2) parts[5] = 1)
TURNS(overwritten_behind_flag, if (threadIdx.x == 0) out[0] = parts[5]; SAY(*(volatile unsigned*)arrived = 1u),
      HEAR(*(volatile unsigned*)arrived); if (threadIdx.x == 1 && blockIdx.x == 2) parts[5] = 1)
TURNS(read_unheard, if (threadIdx.x == 0) parts[5] = 1; SAY(atomicAdd(arrived, 1u)),
      if (threadIdx.x == 1) out[0] = parts[5])
TURNS(read_heard, if (threadIdx.x == 0) parts[5] = 1; SAY(atomicAdd(arrived, 1u)),
      HEAR(*(volatile unsigned*)arrived); if (threadIdx.x == 1) out[0] = parts[5])
TURNS(read_heard_elsewhere, if (threadIdx.x == 0) parts[5] = 1; SAY(atomicAdd(arrived, 1u)),
      HEAR(*(volatile unsigned*)&parts[8] + 1); if (threadIdx.x == 1) out[0] = parts[5])
extern "C" __global__ void counted_in_block(int* out, int* parts, unsigned* arrived) {
  if (threadIdx.x < 4) atomicAdd_block(parts + blockIdx.x, 1);
  if (threadIdx.x == 0 && atomicAdd_block(arrived + (blockIdx.x == 2 ? 0 : blockIdx.x % 1), 0u) == 99) out[0] = 1;
}
extern "C" __global__ void own_counts(int* out, int* parts, unsigned* arrived) {
  if (threadIdx.x < 4) atomicAdd_block(parts + blockIdx.x, 1);
}
// Block 1 tells block 2 what block 0 has told it, block 3 hears what all of them add up.
extern "C" __global__ void heard_from_another(int* out, int* parts, unsigned* arrived) {
  if (threadIdx.x != 0) return;
  volatile int* flag = parts + 16;
  if (blockIdx.x == 0) parts[5] = 1, __threadfence(), flag[0] = 1;
  if (blockIdx.x == 1 && flag[0] == 1) __threadfence(), flag[1] = 1;
  if (blockIdx.x == 2 && flag[1] == 1) out[0] = parts[5];
}
extern "C" __global__ void counted(int* out, int* parts, unsigned* arrived) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = 1;
  __threadfence();
  if (blockIdx.x < 3) atomicAdd(arrived, 1u);
  else if (*(volatile unsigned*)arrived == 3) out[0] = parts[0] + parts[1] + parts[2];
}
extern "C" __global__ void pairs_in_place(int* out, int* parts, unsigned*) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) parts[i] = parts[i] + parts[i ^ 1];
}
extern "C" __global__ void pairs_in_step(int* out, int* parts, unsigned*) {
  int i = threadIdx.x, sum = blockIdx.x == 0 ? parts[i] + parts[i ^ 1] : 0;
  __syncwarp();
  if (blockIdx.x == 0) parts[i] = sum;
}
extern "C" __global__ void own_pairs(int* out, int* parts, unsigned*) {
  int i = 2 * threadIdx.x, a = parts[i], b = parts[i + 1];
  if (blockIdx.x == 0) parts[i] = a - b, parts[i + 1] = a + b;
}
extern "C" __global__ void written_by_others(int* out, int* parts, unsigned*) {
  if (blockIdx.x != 0) return;
  parts[threadIdx.x] = threadIdx.x;
  out[0] = parts[31 - threadIdx.x];
}
extern "C" __global__ void locked(int* out, int* parts, unsigned* lock) {
  if (threadIdx.x % 16 != 0) return;
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  __threadfence();
  parts[0] += threadIdx.x;
  __threadfence();
  atomicExch(lock, 0u);
}
extern "C" __global__ void read_then_written(int* out, int* parts, unsigned*) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) % 64;
  if (blockIdx.x == 0) parts[i] = __ldg(&parts[i]) + 1;
}
extern "C" __global__ void written_then_read(int* out, int* parts, unsigned*) {
  if (blockIdx.x != 0) return;
  parts[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[0] = __ldg(&parts[threadIdx.x]);
}
)";

TEST(Visibility, WhatOtherBlocksWrote) {
  SimKit kit = SimKit::FromCuda(kKernels);
  const struct {
    const char* kernel;
    const char* message;  // empty: all may be seen
  } cases[] = {{"fenced", ""},
               {"fenced_volatile", ""},
               {"fenced_system", ""},
               {"released", ""},
               {"no_fence", "read of parts[0] (buffer of 256 bytes), which block 0 of this launch wrote without a "},
               {"no_fence_volatile", "which block 0 of this launch wrote"},
               {"fence_of_block", "which block 0 of this launch wrote"},
               {"fence_too_early", "which block 0 of this launch wrote"},
               {"volatile_write", ""},
               {"atomic_write", ""},
               {"atomic_read", ""},
               {"read_only_path", "read of parts[0] (buffer of 256 bytes) through the read-only path"},
               {"read_only_counts", "read of parts[0] (buffer of 256 bytes) through the read-only path"},
               {"fence_behind_barrier", ""},
               {"fence_before_barrier", "which block 0 of this launch wrote"},
               {"fence_behind_warp", ""},
               {"fence_of_each", ""},
               {"own_results", ""},
               {"overwritten", "write of parts[5] (buffer of 256 bytes), which block 0 of this launch read: nothing"},
               {"overwritten_behind_ticket", ""},
               {"overwritten_behind_flag", ""},
               {"read_unheard", "read of parts[5] (buffer of 256 bytes), which block 0 of this launch wrote: nothing"},
               {"read_heard", ""},
               {"read_heard_elsewhere", "which block 0 of this launch wrote: nothing"},
               {"heard_from_another", ""},
               {"counted", ""},
               {"counted_in_block", "an atomic operation of the block's scope on arrived[0]"},
               {"own_counts", ""},
               {"pairs_in_place", "race on global memory: a write of parts["},
               {"pairs_in_step", ""},
               {"own_pairs", ""},
               {"written_by_others", "race on global memory: a read of parts["},
               {"locked", ""},
               {"read_then_written", ""},
               {"written_then_read", "read of parts[0] (buffer of 256 bytes) through the read-only path"}};
  for (const auto& c : cases) {
    const auto out = kit.Make<int>("out", 1);
    const auto parts = kit.Make<int>("parts", 64);
    const auto arrived = kit.Make<unsigned>("arrived", 1);
    Visibility visibility(4);
    kit.options.visibility = &visibility;
    const bool ok = kit.Run(c.kernel, {4, 1, 1}, {32, 1, 1}, 0, out, parts, arrived);
    EXPECT_EQ(ok, *c.message == '\0') << c.kernel << ": " << kit.fault.message;
    if (!ok) {
      const bool race = std::string_view(c.message).starts_with("race");
      EXPECT_EQ(kit.fault.kind, race ? core::Fault::Kind::kSharedRace : core::Fault::Kind::kNotVisible) << c.kernel;
      EXPECT_NE(kit.fault.message.find(c.message), std::string::npos) << c.kernel << ": " << kit.fault.message;
    }
    kit.options.visibility = nullptr;
    EXPECT_TRUE(kit.Run(c.kernel, {4, 1, 1}, {32, 1, 1}, 0, out, parts, arrived)) << c.kernel;
  }
}

// What is stored atomically or as volatile is no fault to read, but it may not have arrived: `out` counts what the last
// block misses.
constexpr const char* kOldKernels = R"(
#define LAST(name, write, fence, read)                                                      \
  extern "C" __global__ void name(int* out, int* parts, unsigned* arrived) {                \
    if (threadIdx.x != 0) return;                                                           \
    write;                                                                                  \
    fence;                                                                                  \
    if (atomicAdd(arrived, 1u) != gridDim.x - 1) return;                                    \
    int missing = 0;                                                                        \
    for (int b = 0; b < gridDim.x; ++b) missing += read != 1;                               \
    *out = missing;                                                                         \
  }
#define VOLATILE(p) (*(volatile int*)&(p))
LAST(volatile_alone, VOLATILE(parts[blockIdx.x]) = 1, , VOLATILE(parts[b]))
LAST(atomic_alone, atomicExch(&parts[blockIdx.x], 1), , VOLATILE(parts[b]))
LAST(read_plainly, VOLATILE(parts[blockIdx.x]) = 1, , parts[b])
LAST(fence_of_block, VOLATILE(parts[blockIdx.x]) = 1, __threadfence_block(), VOLATILE(parts[b]))
LAST(volatile_fenced, VOLATILE(parts[blockIdx.x]) = 1, __threadfence(), VOLATILE(parts[b]))
LAST(atomic_fenced, atomicExch(&parts[blockIdx.x], 1), __threadfence(), parts[b])
LAST(read_by_atomic, VOLATILE(parts[blockIdx.x]) = 1, , atomicAdd(&parts[b], 0))
LAST(waited_for, VOLATILE(parts[blockIdx.x]) = 1, , ([&] { while (VOLATILE(parts[b]) != 1); return 1; }()))
// The largest value so far, under a lock: with a fence, and without.
#define LOCKED(name, fence)                                                                 \
  extern "C" __global__ void name(int* out, int* parts, unsigned* lock) {                   \
    if (threadIdx.x != 0) return;                                                           \
    while (atomicCAS(lock, 0u, 1u) != 0u);                                                  \
    int known = VOLATILE(parts[0]), own = 10 - (int)blockIdx.x;                             \
    if (own > known) VOLATILE(parts[0]) = own;                                              \
    fence;                                                                                  \
    atomicExch(lock, 0u);                                                                   \
    if (blockIdx.x == gridDim.x - 1) *out = parts[0] != 10;                                 \
  }
LOCKED(locked, __threadfence())
LOCKED(unfenced, )
// Who has read a value reads no older one, nor does who has heard of it.
extern "C" __global__ void never_back(int* out, int* parts, unsigned* heard) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) VOLATILE(parts[0]) = 1;
  if (blockIdx.x == 1) {
    while (VOLATILE(parts[0]) != 1);
    __threadfence();
    VOLATILE(heard[0]) = 1;
  }
  if (blockIdx.x == 2) {
    while (VOLATILE(heard[0]) != 1);
    __threadfence();
    *out = VOLATILE(parts[0]) != 1;
  }
}
)";

TEST(Visibility, WhatMayNotHaveArrived) {
  SimKit kit = SimKit::FromCuda(kOldKernels);
  const struct {
    const char* kernel;
    int missing;  // without the last block's own one
    bool old;     // some read had an older value
  } cases[] = {{"volatile_alone", 3, true},  {"atomic_alone", 3, true},     {"read_plainly", 3, true},
               {"fence_of_block", 3, true},  {"volatile_fenced", 0, false}, {"atomic_fenced", 0, false},
               {"read_by_atomic", 0, false}, {"waited_for", 0, true},       {"locked", 0, false},
               {"unfenced", 1, true},        {"never_back", 0, true}};
  for (const auto& c : cases) {
    const auto out = kit.Make<int>("out", 1);
    const auto parts = kit.Make<int>("parts", 4);
    const auto arrived = kit.Make<unsigned>("arrived", 1);
    Visibility visibility(4);
    kit.options.visibility = &visibility;
    EXPECT_TRUE(kit.Run(c.kernel, {4, 1, 1}, {32, 1, 1}, 0, out, parts, arrived)) << c.kernel << kit.fault.message;
    EXPECT_EQ(out[0], c.missing) << c.kernel;
    EXPECT_EQ(visibility.old_read().has_value(), c.old) << c.kernel;
    if (c.old) {
      EXPECT_NE(visibility.old_read()->message.find("which block 0 of this launch wrote: nothing says that it has"),
                std::string::npos)
          << c.kernel << visibility.old_read()->message;
      EXPECT_GT(visibility.old_read()->line, 0) << c.kernel;
    }
  }
}

}  // namespace
}  // namespace warpwright::sim
