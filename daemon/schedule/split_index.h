// Index variables that positions take apart, i / m and i % m, as two variables: channels as groups of channels, so that
// a statistic of a group is read at the group's own row.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

// Splits variables of outputs by which earlier stages are read at a quotient. A variable stays whole where it is taken
// apart in several ways, or where its extent need not be a whole number of parts.
core::Computation WithSplitIndices(core::Computation computation);

}  // namespace warpwright::schedule
