// Many elements of a packed array at once: the type is looked at once for all of them.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "core/dtype.h"

namespace warpwright::core {

// out[k] = LoadAsDouble(dtype, data, first + k)
void LoadAsDoubles(DType dtype, const std::byte* data, size_t first, std::span<double> out);

// Whether an element of 1, 2, 4 or 8 bytes has the same bits in two arrays.
inline bool IsSameElement(const std::byte* a, const std::byte* b, size_t index, size_t size) {
  switch (size) {  // memcmp of a known size is a comparison
    case 1: return a[index] == b[index];
    case 2: return std::memcmp(a + 2 * index, b + 2 * index, 2) == 0;
    case 4: return std::memcmp(a + 4 * index, b + 4 * index, 4) == 0;
    default: return std::memcmp(a + size * index, b + size * index, size) == 0;
  }
}

}  // namespace warpwright::core
