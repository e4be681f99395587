// Many elements of a packed array at once: the type is looked at once for all of them.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtype.h"

namespace warpwright::core {

// out[k] = LoadAsDouble(dtype, data, first + k)
void LoadAsDoubles(DType dtype, const std::byte* data, size_t first, std::span<double> out);

}  // namespace warpwright::core
