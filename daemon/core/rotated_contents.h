// Other inputs of the same kind for earlier calls: what such a call leaves must not answer for the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/execution.h"

namespace warpwright::core {

// Each content's elements rotated by `by` units of 16 bytes, which are whole elements of every type; what has no
// content, or less than two units, stays.
std::vector<BufferContent> Rotated(std::vector<BufferContent> contents, uint64_t by);

}  // namespace warpwright::core
