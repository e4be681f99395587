// In which order the variables of intermediates stand is nobody's wish: they are numbered as their sums were found.
// Where one lies in memory between two kernels, neighbours in it are neighbours in what it is made of, channels where
// channels come last.
#pragma once

#include "schedule/problem.h"

namespace warpwright::schedule {

// With each intermediate's variables in the order of their strides in the largest tensor that it is made of: [n,e,h,w]
// of what is summed over c of x[n,c,h,w], and [n,h,w,e] where x has its channels last.
core::Computation WithMemoryOrder(const Problem& problem, core::Computation computation);

}  // namespace warpwright::schedule
