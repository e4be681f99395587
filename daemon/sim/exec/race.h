// Races on shared memory. Two accesses of different threads to the same bytes, one of them a write, need a barrier between them, or
// a __syncwarp where both are of one warp.
//
// Context::time advances with every synchronisation. For each granule (the narrowest access that the kernel makes, at most 4 bytes)
// the shadow holds when and by whom it was last written, and when and by which warps it was read since; where only one warp read it,
// also by which of its lanes. An access stamped before the last barrier of the block, or, within a warp, before the last
// synchronisation of the warp, is ordered before everything that comes now. Barriers of part of the block, and __syncwarp of part
// of a warp, keep for each pair up to which time the one knows the other.
//
// Code that counts on a warp's lanes to run in step (volatile shared memory without __syncwarp) has been undefined since Volta: it is
// reported, and the message says why.
//
// Atomic operations (volatile and relaxed accesses are not) do not race with each other. What a program orders by locks of its own,
// built from atomics, is reported, as other tools do.
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

// Each is exact, lane by lane, for the active lanes; false after a fault. `base` is the first lane's offset in shared memory.
bool RecordReads(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes);
bool RecordWrites(Context& c, const Instruction* i, const AddressPattern& pattern, uint64_t base, uint32_t bytes,
                  const std::byte* const* values);
bool RecordAtomics(Context& c, const Instruction* i, const uint64_t* offset, uint32_t bytes);
void ResetRaces(Context& c);           // at the start of a block
void SynchronizeBlock(Context& c);     // a barrier of all warps
void SynchronizeWarps(Context& c, uint32_t warps);  // a barrier of some

}  // namespace warpwright::sim
