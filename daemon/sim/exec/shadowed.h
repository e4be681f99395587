// The loop that runs a warp beside a shadow (sim/shadow.h), instruction by instruction.
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

// Runs from `i` until a handler sets Context::stop.
void ExecuteShadowed(Context& c, const Instruction* i);

}  // namespace warpwright::sim
