// What threads order among each other in shared memory without a barrier: locks and flags of atomics, volatile and
// relaxed accesses
// ("strong" ones), and fences, as PTX's memory model has it. Only kernels that have both are followed (Context::order),
// and only between the first fence or strong load or store after a barrier of the block and its next barrier
// (Context::ordering).
//
// A fence notes the time of its thread. What the thread then writes strongly releases all that it did before that time,
// and all that it knew: the place carries that clock until it is written otherwise; an atomic of another thread keeps
// it. Who reads the place strongly is offered the clock, and knows it from its next fence on. Lowering makes fences of
// `acquire` and `release`.
//
// Strong accesses do not race with atomics, nor a strong read with a release of another warp; between lanes of one warp
// both must be known to be a flag by an atomic there, or code that counts on lanes in step would pass. But a read that
// may come before what it waits for, or sees what nobody released, decides nothing: it must be followed by another of
// the same thread (a loop), or is a race.
//
// Like the rest of the check this looks at the one order in which the warps ran here: what a lock happens to order in
// it, and would not in another, is not found. More is known than is true in two cases, so that a race may be missed,
// too: what a thread learns between its fence and its release is released as well, and a thread that has acquired from
// another one's release knows every release of it since the same fence.
#pragma once

#include <unordered_map>

#include "sim/exec/race.h"

namespace warpwright::sim {

// Clocks by thread: up to which Context::time what another did is known. A row counts only if stamped with the last
// barrier's time.
class VectorClocks {
 public:
  VectorClocks(size_t rows, size_t threads) : stamp_(rows), threads_(threads) {}
  const uint32_t* Find(size_t row, uint32_t phase) const {
    return stamp_[row] == phase ? times_.data() + row * threads_ : nullptr;
  }
  uint32_t* Make(size_t row, uint32_t phase);  // zeros, where it did not count
  void Drop(size_t row) { stamp_[row] = 0; }

 private:
  std::vector<uint32_t> stamp_, times_;
  size_t threads_;
};

struct HappensBeforeState {
  HappensBeforeState(size_t warps, size_t granules)
      : threads(warps * kLanes),
        fenced(threads),
        of_lane(threads, threads),
        of_warp(warps, threads),
        offered(threads, threads),
        reads(granules) {}

  size_t threads;
  std::vector<uint32_t> fenced;  // by thread: Context::time of its last fence
  VectorClocks of_lane, of_warp, offered;
  // A place that was released, or is used by atomics.
  struct SyncLocation {
    std::vector<uint32_t> clock;    // empty: nobody released it
    uint32_t writer = 0, time = 0;  // who did last, and its own time then
    bool atomic = false;
  };
  std::unordered_map<size_t, SyncLocation> locations;  // by granule

  // Reads of a granule since its last write.
  struct Read {
    uint32_t next, time, lanes;  // lanes 0: some, of before the ordering began
    uint16_t warp;
    bool strong, answered;  // answered: it has seen another thread's release
    const Instruction* at;
  };
  struct Reads {
    uint32_t head = UINT32_MAX, phase = 0, length = 0, limit = 8;
  };
  std::vector<Reads> reads;
  std::vector<Read> pool;
  uint32_t free = UINT32_MAX;  // in `pool`
  // Reads that decide nothing, by granule and thread; with the write that came about then.
  struct Poll {
    const Instruction* at;
    ThreadId other;
  };
  std::unordered_map<uint64_t, Poll> polls;
};

bool HappensBefore(const Context& c, uint32_t thread, uint32_t other, uint32_t time);
bool IsReleased(const Context& c, uint32_t lane);  // would a strong write of the lane release anything?
// The parts of exec/race.h where `ordering` is on. IsSynchronizationPair: may this strong access and the last write, an
// atomic or a release, go without an order? HasAcquired: or does the lane know of that write because it has read it?
bool IsSynchronizationPair(const Context& c, const Instruction* i, uint32_t lane, ThreadId writer, size_t granule);
bool HasAcquired(const Context& c, uint32_t lane, ThreadId writer, size_t granule);
void NoteOrderedRead(Context& c, const Instruction* i, uint32_t lane, size_t granule);
bool CheckOrderedReads(Context& c, const Instruction* i, uint32_t lane, size_t granule, uint64_t offset, uint32_t bytes,
                       std::string_view what, uint32_t write_flags);
void OrderStore(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes);
// At synchronisations.
void JoinWarpClocks(Context& c, uint32_t warps);
void JoinLaneClocks(Context& c, uint32_t members);
void EndOrdering(Context& c, bool report);  // a barrier of the block; a read that decides nothing is reported

}  // namespace warpwright::sim
