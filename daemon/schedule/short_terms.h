// Sums over what a tensor has, of which few terms count, as sums over those: sum_{r<L} x[r] * w[(i - r) / 3] where 3
// divides i - r and the quotient is less than 5 is sum_{q<5} x[i - 3 q] * w[q] where that is an element. So transposed
// convolutions are lifted whose taps lie apart.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithShortTerms(core::Computation computation);

}  // namespace warpwright::schedule
