// Sums that differ only in which block of a matrix's rows they take, as one sum for all of these rows: the gates of a
// recurrent cell, sum_k x[b,k] * w[h + g * H,k] for g = 0, 1, 2, are one product with 3 * H rows. Each by itself would
// be a kernel, or keep the others from being one.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithRowBlocks(core::Computation computation);

}  // namespace warpwright::schedule
