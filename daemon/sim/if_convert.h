// If-conversion: both sides of a branch run, in registers of their own, and selections choose where they meet. For
// whoever wants the values of both sides; nothing becomes faster. Internal to DecodePtx.
#pragma once

#include <set>

#include "sim/lower.h"

namespace warpwright::sim {

// Converts the branches with these numbers (Instruction::branch) as far as that is possible (if_regions.h); the others
// stay. What a converted branch led around happens under guards: stores and atomics. Loads have such a guard as well,
// but may run where it does not hold (Instruction::speculative).
Status IfConvert(Lowered& lowered, const std::set<uint32_t>& branches);

}  // namespace warpwright::sim
