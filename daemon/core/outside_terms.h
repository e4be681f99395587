// Terms of sums beyond the bounds of what they read (Guard::outside).
#pragma once

#include <set>

#include "core/computation.h"

namespace warpwright::core {

// What of the sum's terms is 0 beyond the guard's bounds, if anything is: factors that are made of floating-point
// tensors that end there (what an activation makes of 0 is not always 0, so that the term would not be left out); where
// none is, a weight that is an exponential (of what a mask has made -infinity).
std::set<NodeId> NodesThatEnd(const Computation& computation, const Stage& stage, const Reduce& sum,
                              const Guard& guard);

// With what is 0 beyond a guard's bounds (Guard::Outside::kZero) written as that, where the guard leaves the term out:
// it then is 0 times its other factors. For evaluation; schedules look for guards.
Computation WithZerosOutside(const Computation& computation);

}  // namespace warpwright::core
