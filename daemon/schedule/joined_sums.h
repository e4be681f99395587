// Sums over the same terms that are added with the same weight, as one sum: what lifting has as
// sum_{k,c} x[n,k] * w[c,k] + sum_c b[c] is, where t0[n,c] = sum_k x[n,k] * w[c,k], sum_c (t0[n,c] + b[c]). So the mean
// of a row that a bias was added to is made of the row, as its squares are, and not of two rows.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

// Where a sum would still be needed beside the joined one, nothing is joined.
core::Computation WithJoinedSums(const core::Computation& computation);

}  // namespace warpwright::schedule
