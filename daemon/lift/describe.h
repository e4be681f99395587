// An expression in words, for messages and tests: "add.f32(load 0[3], const.f32 2)".
#pragma once

#include <span>
#include <string>

#include "lift/graph.h"

namespace warpwright::lift {

// Below `depth` levels: "...". Buffers by their names; those without one: "b0".
std::string Describe(const Graph& graph, ExprId id, int depth = 8, std::span<const std::string> buffers = {});

}  // namespace warpwright::lift
