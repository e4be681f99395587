// Whether two versions of an entry compute the same, by executing both over the same symbols at small shapes and
// comparing the expressions of every output element (element_comparison.h).
//
// The candidate runs twice without reloading, with other symbols in the first call, so that what it keeps shows; and
// once more with blocks and warps in the opposite order. Whatever cannot be followed as expressions is said, and
// nothing is claimed of it.
#pragma once

#include "core/equivalence.h"
#include "lift/lift.h"

namespace warpwright::lift {

// `original`, `candidate`: the launch of either version at a shape.
Result<core::Equivalence> CompareEntries(const core::EquivalenceRequest& request, const Prepare& original,
                                         const Prepare& candidate);

}  // namespace warpwright::lift
