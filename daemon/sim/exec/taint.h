// Values from shared and local memory that were never written. Compilers read such memory before they know whether they
// need the value, and select later; so a read by itself is not a fault. The register is tainted instead, and while a
// warp has tainted registers it runs in a slower loop that tracks them: arithmetic propagates taint, a selection takes
// that of the chosen side, a store passes it to memory. It is reported, with the source location of the read, when it
// is used: as an address, as the condition of a branch, in a store to global memory, in an atomic, or in an exchange
// between lanes.
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

// `unwritten`: for each element of the load, the lanes for which it has no value. Returns true if there are any; the
// handler then ends with `return LeaveTainted(c, i)`.
bool TaintResult(Context& c, const Instruction* i, const uint64_t* address, const uint32_t* unwritten, Space space);
const Instruction* LeaveTainted(Context& c, const Instruction* i);
// For an atomic, which uses what it reads.
const Instruction* UseUnwrittenShared(Context& c, const Instruction* i, uint64_t address, uint32_t lane);
// Runs until a handler stops (nullptr) or nothing is tainted any more (the instruction to continue at).
const Instruction* ExecuteTainted(Context& c, const Instruction* i);
// One instruction of a warp with tainted registers: the next one, or nullptr if its handler stopped.
const Instruction* StepTainted(Context& c, const Instruction* i);
void ClearTaint(Warp& warp);
// The same loop for a warp whose registers wgmma.mma_async writes (exec/warpgroup.h).
void TrackRegisters(Context& c);

}  // namespace warpwright::sim
