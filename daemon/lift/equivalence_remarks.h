// How a candidate computes what the original computes, as far as a reviewer may want to know of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lift/element_comparison.h"

namespace warpwright::lift {

// `names`: of the buffers. In words, "it calls no exp, which the original does".
std::vector<std::string> RemarksOn(const Graph& graph, std::span<const ElementPair> pairs,
                                   std::span<const std::string> names);

}  // namespace warpwright::lift
