// Outputs that are lifted in parts although one formula holds for all of them: of a running sum the first element,
// which is one term, beside the others.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithWholeOutputs(core::Computation computation);

}  // namespace warpwright::schedule
