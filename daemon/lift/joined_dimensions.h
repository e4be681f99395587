// A dimension that the manifest states as a product is looked at as its factors (dimensions.h). Where every read takes
// the quotient and the remainder of one variable, they are one dimension after all: "b[i / C, i % C]" of 4 * C elements
// is "b[i]".
#pragma once

#include "core/computation.h"

namespace warpwright::lift {

core::Computation WithJoinedDimensions(core::Computation computation);

}  // namespace warpwright::lift
