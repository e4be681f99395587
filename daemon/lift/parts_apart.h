// Intermediates in parts that readers tell apart by a number: a workspace with a mean and a deviation for each row is
// two intermediates, of which each has one value for a row.
#pragma once

#include "core/computation.h"

namespace warpwright::lift {

// Where each part of an intermediate has one place of a coordinate, and every reader gives a number for it: a stage for
// each of these numbers, without the coordinate. Other intermediates stay as they are.
core::Computation WithPartsApart(core::Computation computation);

}  // namespace warpwright::lift
