// A Computation as LaTeX, for a ```math block on GitHub, whose MathJax refuses \operatorname (github/markup#1688):
// names are set by \mathrm.
#pragma once

#include <string>

#include "core/computation.h"

namespace warpwright::core {

// One aligned environment; parts of one tensor that follow each other are cases. Assumptions are not part of it.
std::string ComputationLatex(const Computation& computation);

}  // namespace warpwright::core
