// Floating-point arithmetic on bits, as the simulator's handlers do it lane by lane.
#pragma once

#include "lift/graph.h"

namespace warpwright::lift {

uint64_t EvaluateFloat(const Expr& expr, const uint64_t* args);
uint64_t EvaluateConvert(const Expr& expr, uint64_t arg);  // between all number types
bool EvaluateCompare(sim::Compare compare, sim::Type type, bool flush, uint64_t a, uint64_t b);

}  // namespace warpwright::lift
