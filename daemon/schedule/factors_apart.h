// A factor of a product that is made of an earlier stage's sums, or of a tensor by more than products, as a stage of
// its own: in sum_k max(t0[i,k] + b[k], 0) * w[k,j] the rectified sums, and what a norm makes of a convolution's input.
// Stored between two kernels it is finished where it is made, and what the second product reads is as narrow as its
// other factor.
#pragma once

#include <cstddef>
#include <vector>

#include "core/computation.h"

namespace warpwright::schedule {

struct FactorApart {
  core::Computation computation;
  size_t stage = 0;  // the factor's
};
// One for each factor that can stand apart: of products with another factor that has other variables.
std::vector<FactorApart> FactorsApart(const core::Computation& computation);

// The same of sums all of whose readers begin with one function of them, as of an activation behind a convolution that
// a norm's statistics and the norm itself need: computed once, and no larger than what the original has stored.
std::vector<FactorApart> FunctionsApart(const core::Computation& computation);

}  // namespace warpwright::schedule
