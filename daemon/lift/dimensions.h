// A buffer's dimensions as expressions. One that the manifest states flat, as a product, is taken apart into its
// factors: positions are then affine in each.
#pragma once

#include <vector>

#include "core/kernel_spec.h"

namespace warpwright::lift {

std::vector<core::Expression> DimensionsOf(const core::BufferArgument& buffer);

}  // namespace warpwright::lift
