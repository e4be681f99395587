// sum (x - m)^2 in place of sum x^2, where all that is made of it is the variance s2 / n - m^2 with m = s1 / n, and x
// was computed: far from zero the difference of the two is what is left of x's own roundings, which another order of
// its sums has others of. Of inputs as they stand the original's own way is kept, which needs one pass over them.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithCentredSquares(core::Computation computation);

}  // namespace warpwright::schedule
