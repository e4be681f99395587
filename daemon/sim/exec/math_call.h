// Functions of the mathematical library that a lifting build left as calls.
#pragma once

#include "core/computation.h"
#include "sim/exec/context.h"

namespace warpwright::sim {

// The bits of the result; type: kF32 or kF64.
uint64_t CallMath(core::Function function, Type type, double a, double b);
HandlerPair SelectMathCall();

}  // namespace warpwright::sim
