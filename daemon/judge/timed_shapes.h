// Shapes with the taps, strides, paddings and flags of the case whose time counts: where no form holds for all of them,
// that of these is what kernels are written from. Private to judge/.
#pragma once

#include <vector>

#include "judge/size_relations.h"

namespace warpwright::judge {

// None where no other case has other ones. What follows from other sizes still has to.
std::vector<Scalars> ShapesLike(const core::KernelSpec& spec, const core::Case& timed, const SizeRelations& relations);

}  // namespace warpwright::judge
