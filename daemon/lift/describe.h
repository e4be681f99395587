// An expression in words, for messages and tests: "add.f32(load 0[3], const.f32 2)".
#pragma once

#include <string>

#include "lift/graph.h"

namespace warpwright::lift {

// Below `depth` levels: "...".
std::string Describe(const Graph& graph, ExprId id, int depth = 8);

}  // namespace warpwright::lift
