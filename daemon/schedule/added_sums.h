// Two sums that are only ever read as what they come to together, as one intermediate: x * W + h * U before the gates
// of a recurrent cell. In memory it is what the first product leaves and the second one adds to.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithAddedSums(core::Computation computation);

}  // namespace warpwright::schedule
