// Parts of an output that lie at one position of a dimension, the real parts of complex numbers, without a variable for
// it: what a schedule gives threads is what there are several of.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithoutSinglePositions(core::Computation computation);
// The same of an output's every dimension with one position, also where its tensor has no more.
core::Stage WithoutSingles(core::Stage stage);

}  // namespace warpwright::schedule
