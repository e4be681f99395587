// An original that goes through a buffer of its own may be called with an output in the place of an input, where
// kernels that write results while others still read would read what they have written.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

// What the launcher asks for, "y != x" for each output that may stand in the place of an input; none where the original
// has no such buffer: it then reads what it has written as well.
std::vector<std::string> ApartConditions(const Problem& problem, const std::set<std::string>& outputs,
                                         const std::set<std::string>& inputs);
// The same of all that the group writes, and of all that some of its stages read.
std::vector<std::string> ApartConditions(const Problem& problem, const Group& group,
                                         const std::vector<size_t>& readers);

}  // namespace warpwright::schedule
