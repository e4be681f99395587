// In which order the variables of intermediates stand is nobody's wish: they are numbered as their sums were found.
// Where one lies in memory between two kernels, neighbours in it are neighbours in what it is made of, channels where
// channels come last.
#pragma once

#include "schedule/problem.h"

namespace warpwright::schedule {

// With the variable last, in each intermediate, that moves along the largest tensor's rows.
core::Computation WithMemoryOrder(const Problem& problem, core::Computation computation);

}  // namespace warpwright::schedule
