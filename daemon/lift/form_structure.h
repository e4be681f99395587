// Which forms are one but for numbers: those may become one form for all shapes.
#pragma once

#include <cstdint>

#include "core/computation.h"

namespace warpwright::lift {

// Equal for forms that differ in sizes and literals alone.
uint64_t StructureOf(const core::Computation& computation);

}  // namespace warpwright::lift
