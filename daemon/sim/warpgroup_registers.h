// Registers of wgmma.mma_async at the wrong time, found from the code: sums, and A in registers, that others wrote
// since the last wgmma.fence, and A that is overwritten before the product has been waited for. Sums that are touched
// too early are found while the kernel runs (exec/warpgroup.h). Internal to DecodePtx.
#pragma once

#include <vector>

#include "sim/lower.h"

namespace warpwright::sim {

// Products whose registers are not ready on some way to them get mode 1 and a text. A plain move passes on what its
// source is, and one of a constant is nothing: compilers put moves anywhere, also between the last wgmma.fence and the
// product, and ptxas removes them or adds what they need.
void CheckWarpgroupRegisters(Lowered& lowered, const std::vector<BasicBlock>& blocks, ProgramCode& program);

}  // namespace warpwright::sim
