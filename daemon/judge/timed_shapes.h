// Shapes with the taps, strides, paddings and flags of the case whose time counts: where no form holds for all of them,
// that of these is what kernels are written from. Private to judge/.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/size_relations.h"

namespace warpwright::judge {

// Batches and channels that are no more than taps may be.
enum class SmallSizes : uint8_t {
  kVary,  // a form is of all of them
  kStay,  // a path for so few channels is taken
};
// None where no other case has other ones. What follows from other sizes still has to.
std::vector<Scalars> ShapesLike(const core::KernelSpec& spec, const core::Case& timed, const SizeRelations& relations,
                                SmallSizes small = SmallSizes::kVary);

}  // namespace warpwright::judge
