// A buffer's dimensions as expressions. One that the manifest states flat, as a product, is taken apart into its
// factors: positions are then affine in each. In which order they vary the product does not say: as it is written, or
// with its numbers last (`2 * n` for n pairs).
#pragma once

#include <cstdint>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright::lift {

enum class FactorOrder : uint8_t { kAsWritten, kNumbersLast };

std::vector<core::Expression> DimensionsOf(const core::BufferArgument& buffer,
                                           FactorOrder order = FactorOrder::kAsWritten);

}  // namespace warpwright::lift
