// Races on shared memory. Two accesses of different threads to the same bytes, one of them a write, need a barrier
// between them, or a __syncwarp if both are in one warp.
//
// Context::time advances with every synchronisation. For each granule (the narrowest access that the kernel makes, at
// most 4 bytes) the shadow records when and by which thread it was last written, and when and by which warps it was
// read since; if only one warp read it, also by which of its lanes. An access stamped before the last barrier of the
// block, or, within a warp, before the last synchronisation of the warp, is ordered before everything from now on.
// Barriers of part of the block, and __syncwarp of part of a warp, record for each pair the time up to which one knows
// the other.
//
// Code that relies on a warp's lanes running in lockstep (volatile shared memory without __syncwarp) has been undefined
// since Volta: it is reported, and the message states why.
//
// Atomic operations do not race with each other. What a program orders by its own locks and flags is tracked in
// exec/order.h.
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

struct ThreadId {
  uint32_t warp, lane;
};
inline constexpr uint32_t kAtomicWrite = 0x80000000u, kReleasingWrite = 0x40000000u,
                          kWriteFlags = kAtomicWrite | kReleasingWrite;  // in write_thread

// Is what `other` did at `time` ordered before what this lane does now?
bool Ordered(const Context& c, uint32_t lane, ThreadId other, uint32_t time);
bool ReportRace(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes, std::string_view what,
                ThreadId other, std::string_view did);
std::string ThreadName(const Context& c, uint32_t warp, uint32_t lane);

// Each is exact, lane by lane, for the active lanes; false after a fault. `base` is the first lane's offset in shared
// memory.
bool RecordReads(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes);
bool RecordWrites(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes,
                  const std::byte* const* values);
bool RecordRead(Context& c, const Instruction* i, uint32_t lane, uint64_t offset, uint32_t bytes);  // of one lane
bool RecordAtomics(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes);
std::shared_ptr<HappensBeforeState> MakeOrder(size_t warps, size_t granules);
void ResetRaces(Context& c);   // at the start of a block
void FinishRaces(Context& c);  // at its end
void AdvanceTime(Context& c);
void SynchronizeBlock(Context& c);                  // a barrier of all warps
void SynchronizeWarps(Context& c, uint32_t warps);  // a barrier of some warps

}  // namespace warpwright::sim
