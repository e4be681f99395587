// Selects the build of the executor for this CPU.
#pragma once

#include "sim/exec/context.h"

namespace warpwright::sim {

bool CpuIsSupported();  // AVX2, FMA and F16C
// Sets `run` and `body`; false: the executor lacks this form. On an unsupported CPU nothing is bound, and
// Machine::Create fails.
bool BindHandlers(Instruction& instruction);
// Runs from `i` until a handler sets Context::stop.
void Execute(Context& c, const Instruction* i);

}  // namespace warpwright::sim
