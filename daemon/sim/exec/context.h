// The part of the machine that handlers see: the current warp's hot state and the block's memory. One per Machine.
//
// Lanes of a warp that run together are one entry of its stack. On a divergent branch the entry becomes the
// continuation at the point of reconvergence, and both sides are pushed above it; a side that reaches that point is
// popped. An entry waits as long as an entry above it has some of its lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/counters.h"
#include "core/launch_plan.h"
#include "core/verdict.h"
#include "sim/instruction.h"
#include "sim/machine.h"
#include "sim/memory.h"

namespace warpwright::sim {

inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t kAllLanes = UINT32_MAX;

struct StackEntry {
  const Instruction* next = nullptr;
  uint32_t mask = 0;
  uint32_t reconverge = kNoBlock;
  enum class Wait : uint8_t { kNone, kOthers, kBarrier } wait = Wait::kNone;
  uint32_t live_when_waiting = 0;  // if lanes have exited since, kOthers is retried
};

struct Warp {
  std::byte* registers = nullptr;
  std::byte* local = nullptr;  // [word][lane] of 4 bytes
  uint8_t* local_written = nullptr;
  uint32_t index = 0;
  uint32_t live = 0;  // lanes that have not exited
  std::vector<StackEntry> stack;
  int barrier = -1;           // the one that it waits at
  uint32_t synchronized = 0;  // Context::time of the last synchronisation of all its lanes
  uint64_t spins = 0;         // slices without a barrier; those with contention weigh more
  // Lanes of registers whose value comes from memory that was never written; see exec/taint.h.
  bool tainted = false;
  std::vector<uint32_t> taint;         // by offset in the register file / 4
  std::vector<uint16_t> taint_origin;  // into Context::taint_origins
  uint64_t* block_entries = nullptr;   // of this warp, if they are counted per warp
};

// How the lanes' addresses of a memory instruction relate to each other. Usually the same every time: then the figures
// are reused.
struct AddressPattern {
  enum class Kind : uint8_t { kGeneral, kUniform, kContiguous };
  alignas(64) int64_t delta[kLanes] = {};  // to the first active lane's address
  uint32_t mask = 0;                       // 0: never filled
  uint32_t first = 0;
  int64_t low = 0, high = 0;  // of the touched bytes, relative to the first lane's address
  uint64_t alignment = 0;     // all deltas or-ed
  Kind kind = Kind::kGeneral;
  bool dense = false;     // the active lanes' bytes fill [low, high) without holes
  bool overlaps = false;  // two lanes touch the same byte
  // Lines of 128 bytes that are touched, relative to that of the first address, and the sectors in each, by the offset
  // of that address in its line: its `phase`, of which only the bits matter that the deltas do not fill.
  struct Lines {
    uint32_t sector_count = 0, count = 0;
    uint32_t delta[kLanes + MemoryRequest::kPadding] = {};
    uint8_t sectors[kLanes + MemoryRequest::kPadding] = {};
  };
  static constexpr uint32_t kKnownPhases = 8;
  uint32_t phase_mask = 0;
  uint32_t phases[kKnownPhases] = {};  // of lines[]; UINT32_MAX: not known
  Lines lines[kKnownPhases];
  uint32_t shared_phase = UINT32_MAX;  // of the first address, for which the following holds
  uint32_t wavefronts = 0, conflicts = 0;
  const Allocation* allocation = nullptr;
};

struct SiteCounters {
  uint64_t requests = 0, sectors = 0, bytes = 0, shared_requests = 0, wavefronts = 0, conflicts = 0, local_bytes = 0;
};

// Which thread touched a granule of shared memory last; see exec/race.h.
struct RaceShadow {
  uint32_t granule = 4;
  uint32_t quiet = 4;  // the granule, or 0 while every access is checked individually (Context::ordering)
  std::vector<uint32_t> write_time, write_thread, read_time, read_warps, read_lanes;
};

struct HappensBeforeState;  // exec/order.h
struct AsyncCopies;         // exec/async_copy.h
struct WarpgroupProducts;   // exec/warpgroup.h

struct Context {
  // Hot.
  std::byte* registers = nullptr;
  uint32_t mask = 0;  // the lanes that run
  uint32_t live = 0;
  uint32_t full = 0;                  // 1: mask == live, handlers may write all lanes
  uint32_t reconverge = kNoBlock;     // of the running entry
  int64_t slice = 0;                  // warp instructions until another warp's turn
  uint64_t failing_waits = 0;         // at mbarriers, since the last arrival
  bool contended = false;             // atomics or volatile accesses ran in this slice
  int64_t budget = 0;                 // thread instructions until the limit
  uint64_t* block_entries = nullptr;  // by basic block: times entered, lanes
  uint64_t* block_lanes = nullptr;
  const Instruction* code = nullptr;
  const BasicBlock* blocks = nullptr;
  AddressPattern* sites = nullptr;
  SiteCounters* site_counters = nullptr;
  alignas(64) int32_t lanes[kLanes] = {};  // -1 for lanes of `mask`

  enum class Stop : uint8_t { kNone, kYield, kSwitch, kWaitLanes, kBarrier, kExit, kFault, kTaint };
  Stop stop = Stop::kNone;
  const Instruction* resume = nullptr;

  // The block.
  bool counting = false, checking = false;
  std::byte* shared = nullptr;
  uint8_t* shared_written = nullptr;
  uint64_t shared_bytes = 0;
  uint64_t local_bytes = 0;  // per lane
  const std::byte* parameters = nullptr;
  uint64_t parameter_bytes = 0;
  uint64_t block_index = 0;
  uint32_t time = 1;              // advances with every synchronisation; see exec/race.h
  uint32_t barrier_time = 1;      // of the last barrier of the whole block
  bool partial_barriers = false;  // since then
  std::vector<uint32_t>
      known;  // [warp][warp]: the second's time up to which it is ordered before the first, with partial barriers
  std::vector<std::vector<uint32_t>> lanes_known;  // by warp, [lane][lane]; empty without partial __syncwarp
  RaceShadow race;
  bool ordering = false;    // since the last barrier of the block there were fences or strong accesses to shared memory
  bool race_found = false;  // by a barrier
  std::shared_ptr<HappensBeforeState> order;    // nullptr: the kernel has none of these accesses, or is not checked
  std::shared_ptr<AsyncCopies> copies;          // nullptr: the kernel has none
  std::shared_ptr<WarpgroupProducts> products;  // nullptr: the kernel has none, or is not checked
  Warp* warp = nullptr;
  std::vector<Warp> warps;

  // Cold.
  const KernelCode* kernel = nullptr;
  const ProgramCode* program = nullptr;
  Memory* memory = nullptr;
  MemoryObserver* observer = nullptr;
  const std::function<void(std::string_view)>* print = nullptr;
  Shadow* shadow = nullptr;
  Visibility* visibility = nullptr;
  bool reverse_warps = false, split_lanes = false;
  core::Dim3 grid, block;
  uint64_t grid_workspace = 0;      // Launch::grid_workspace
  std::vector<uint64_t> guard_off;  // by instruction: lanes that the guard switched off
  std::vector<uint64_t> divergent;  // by instruction: branches that diverged
  uint64_t barriers = 0;
  // A barrier that the running entry has reached: number, count of threads (0: all), and the lanes' predicate for a
  // reduction.
  struct Arrival {
    uint32_t number = 0, count = 0, predicate = 0;
    bool waits = true;
  } arrival;
  core::Fault fault;
  struct TaintOrigin {
    core::Fault fault;  // what to report if the value is used
    bool shared = false;
  };
  std::vector<TaintOrigin> taint_origins;
  // A value from shared memory that no thread had written was used. The run continues: if another thread writes the
  // location before the next barrier, it is a race, which is the more specific report.
  bool unwritten_read = false;
  core::Fault unwritten_fault;
};

// Sets the mask of running lanes and what depends on it.
[[gnu::always_inline]] inline void SetMask(Context& c, uint32_t mask) {
  c.mask = mask;
  c.full = mask == c.live ? 1 : 0;
  for (uint32_t l = 0; l < kLanes; ++l) c.lanes[l] = -static_cast<int32_t>((mask >> l) & 1);
}

// What StopWithFault reports, without stopping.
core::Fault FaultAt(const Context& c, const Instruction* i, core::Fault::Kind kind, uint32_t lane, std::string message);
// Stops the kernel. `lane` is the faulting one; kLanes: the first active one. Returns nullptr for the handler to
// return.
const Instruction* StopWithFault(Context& c, const Instruction* i, core::Fault::Kind kind, uint32_t lane,
                                 std::string message);
// The instruction needs lanes that are not here (a barrier of the warp, a shuffle): others run first, then it is tried
// again. If they can never arrive, `ReportUnsatisfiableWait` names the fault.
const Instruction* WaitForLanes(Context& c, const Instruction* i);
void ReportUnsatisfiableWait(Context& c, const Instruction* i);

// exec/divergence.cpp. Each returns where execution continues, or nullptr with `stop` set.
const Instruction* Diverge(Context& c, const Instruction* i, uint32_t taken);
const Instruction* ExitLanes(Context& c, const Instruction* i, uint32_t lanes);
const Instruction* ReachReconvergence(Context& c);  // the running entry leaves the stack
const Instruction* ResumeTop(Context& c);
// Puts an entry that can run on top of the stack. False: all of them wait.
bool SelectEntry(Warp& warp);
// Lets lanes that wait at a point of reconvergence admitted by `may_run` run ahead of those that they wait for; false
// if there are none.
bool RunAhead(Warp& warp, const std::function<bool(const Instruction*)>& may_run = {});
// Do lanes that bypassed `barrier` and wait at `tail` do there what they would before an early return?
bool IsJoinedReturn(const KernelCode& kernel, const Instruction* barrier, const Instruction* tail);
// Joins entries that wait for lanes at the same instruction; true: some were, and can run again.
bool MergeWaiting(Warp& warp);

}  // namespace warpwright::sim
