// (s / n)^2 in place of s^2 / n^2, which lifting has for the square of a mean: the square of a sum overflows where that
// of the mean does not, and an original that forms the mean first has a finite variance there.
#pragma once

#include "core/computation.h"

namespace warpwright::schedule {

core::Computation WithSquaredMeans(core::Computation computation);

}  // namespace warpwright::schedule
