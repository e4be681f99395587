// Sums of several variables as sums of an earlier stage's sums: what lifting has as sum_{k,c} x[n,k] * w[c,k] is, where
// t0[n,c] = sum_k x[n,k] * w[c,k] is needed anyway, sum_c t0[n,c].
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithNestedSums(core::Computation computation);

}  // namespace warpwright::schedule
