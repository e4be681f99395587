// Register slots: virtual registers whose live ranges do not overlap share one. 32-bit, 64-bit and predicate slots are
// separate, so that a handler that writes lanes of one width never disturbs the other. Internal to DecodePtx.
#pragma once

#include "sim/cfg.h"

namespace warpwright::sim {

// Turns the virtual registers in `lowered.code` into offsets in the register file and fills the layout in `kernel`.
Status AllocateSlots(Lowered& lowered, const std::vector<BasicBlock>& blocks, KernelCode& kernel);

}  // namespace warpwright::sim
