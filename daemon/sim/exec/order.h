// How threads order accesses to shared memory among each other without a barrier: locks and flags built from atomics,
// volatile and relaxed accesses ("strong" ones), and fences, as in PTX's memory model. Only kernels that have both are
// tracked (Context::order), and only between the first fence or strong load or store after a barrier of the block and
// its next barrier (Context::ordering).
//
// A fence records the time of its thread. A later strong write of the thread releases all that it did before that time,
// and all that it knew: the location carries that clock until it is written otherwise; an atomic of another thread
// preserves it. A thread that reads the location strongly is offered the clock, and knows it from its next fence on.
// Lowering makes fences of `acquire` and `release`.
//
// Strong accesses do not race with atomics, nor a strong read with a release of another warp; between lanes of one warp
// an atomic on the location must identify both as a flag, or code that relies on lanes in lockstep would pass. But a
// read that may come before what it waits for, or that sees a value no thread released, proves nothing: it must be
// followed by another of the same thread (a loop), or it is a race.
//
// Like the rest of the check this considers only the one order in which the warps ran here: a race that a lock happens
// to order in this run, and would not in another, is not found. In two cases the clocks claim more than is true, so
// that a race may also be missed: what a thread learns between its fence and its release is released as well, and a
// thread that has acquired from another one's release knows every release of it since the same fence.
#pragma once

#include <unordered_map>

#include "sim/exec/race.h"

namespace warpwright::sim {

// Clocks by thread: the Context::time up to which another thread's actions are known. A row is valid only if stamped
// with the last barrier's time.
class VectorClocks {
 public:
  VectorClocks(size_t rows, size_t threads) : stamp_(rows), threads_(threads) {}
  const uint32_t* Find(size_t row, uint32_t phase) const {
    return stamp_[row] == phase ? times_.data() + row * threads_ : nullptr;
  }
  uint32_t* Make(size_t row, uint32_t phase);  // zeros, if it was not valid
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
  // A location that was released, or is used by atomics.
  struct SyncLocation {
    std::vector<uint32_t> clock;    // empty: no thread released it
    uint32_t writer = 0, time = 0;  // the last thread to release it, and that thread's time then
    bool atomic = false;
  };
  std::unordered_map<size_t, SyncLocation> locations;  // by granule

  // Reads of a granule since its last write.
  struct Read {
    uint32_t next, time, lanes;  // lanes 0: unspecified ones, from before the ordering began
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
  // Reads that prove nothing, by granule and thread, with the last write at that time.
  struct Poll {
    const Instruction* at;
    ThreadId other;
  };
  std::unordered_map<uint64_t, Poll> polls;
};

bool HappensBefore(const Context& c, uint32_t thread, uint32_t other, uint32_t time);
bool IsReleased(const Context& c, uint32_t lane);  // would a strong write of the lane release anything?
// The parts of exec/race.h for when `ordering` is on. IsSynchronizationPair: may this strong access and the last write,
// an atomic or a release, be unordered? HasAcquired: or does the lane know of that write because it has read it?
bool IsSynchronizationPair(const Context& c, const Instruction* i, uint32_t lane, ThreadId writer, size_t granule);
bool HasAcquired(const Context& c, uint32_t lane, ThreadId writer, size_t granule);
void NoteOrderedRead(Context& c, const Instruction* i, uint32_t lane, size_t granule);
bool CheckOrderedReads(Context& c, const Instruction* i, uint32_t lane, size_t granule, uint64_t offset, uint32_t bytes,
                       std::string_view what, uint32_t write_flags);
void OrderStore(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes);
// At synchronisations.
void JoinWarpClocks(Context& c, uint32_t warps);
void JoinLaneClocks(Context& c, uint32_t members);
void EndOrdering(Context& c, bool report);  // at a barrier of the block; a read that proves nothing is reported

}  // namespace warpwright::sim
