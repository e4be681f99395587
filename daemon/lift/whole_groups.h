// Groups of a size that does not divide what is grouped are not what shapes with whole groups show.
#pragma once

#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::lift {

// "N % G = 0" where an earlier stage is read for the group c / (N / G) of all c < N: beyond the last whole group there
// is nothing to read.
std::vector<std::string> WholeGroups(const core::Computation& computation);

}  // namespace warpwright::lift
