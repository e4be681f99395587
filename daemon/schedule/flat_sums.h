// Sums of scaled sums as one: blocks of numbers with a scale each, as quantized weights are kept, multiplied by a
// vector, are one row of terms that threads share as they share any other.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

// sum_b scale[i,b] * (sum_k q[i,b,k] * x[b,k]) becomes sum_{b,k} scale[i,b] * q[i,b,k] * x[b,k], where every inner sum
// is of the same length and needed for one result: nothing is computed more often than before.
core::Computation WithFlatSums(core::Computation computation);

}  // namespace warpwright::schedule
