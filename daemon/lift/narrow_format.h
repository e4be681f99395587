// Roundings that a form looks through: to f16 or bf16, of what the kernel goes on to compute with (halves between two
// launches, sums kept in halves).
#pragma once

#include <optional>

#include "core/dtype.h"
#include "lift/trace.h"

namespace warpwright::lift {

// The coarsest of the formats that are narrower than f32 to which something is rounded that is used again. None: only
// what is stored at last is, if anything.
std::optional<core::DType> NarrowFormatOf(const Trace& trace);

}  // namespace warpwright::lift
