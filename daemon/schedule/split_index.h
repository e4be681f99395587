// Index variables that positions take apart, i / m and i % m, as two variables: channels as groups of channels, so that
// a statistic of a group is read at the group's own row.
#pragma once

#include <string>
#include <vector>

#include "core/computation.h"

namespace warpwright::schedule {

// Splits variables of outputs by which earlier stages are read at a quotient. A variable stays whole where it is taken
// apart in several ways, or where its extent need not be a whole number of parts.
core::Computation WithSplitIndices(core::Computation computation);
// Splits variables of sums that one factor takes apart, where their readers can follow: what remains whole in the other
// factor (the phases of a transposed convolution, the channels of a group) is then used by several results.
// `conditions`: gets what must hold of the sizes for that, "K % groups == 0".
core::Computation WithSplitTerms(core::Computation computation, std::vector<std::string>& conditions);

}  // namespace warpwright::schedule
