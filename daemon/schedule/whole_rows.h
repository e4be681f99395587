// Windows that slide along the rows that they are of, as a sum over all columns with a condition: what attends to the
// last few positions attends to all of them, and a mask leaves the others out.
//
//   max_{r<W where i + r + 1 >= W} t[i, i + r + 1 - W]   becomes   max_{j<T where 1 - W <= j - i < 1} t[i, j]
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

// Reductions over one variable that move with one of their stage's, where everything that they read moves alike.
core::Computation WithWholeRows(const core::Computation& computation);

}  // namespace warpwright::schedule
