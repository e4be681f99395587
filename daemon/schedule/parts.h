// An output that is computed in several parts, as what is computed at each place of its buffer.
#pragma once

#include <optional>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

// A stage whose variables are the coordinates of the buffer that it writes, and where these are its own.
struct BufferPart {
  core::Stage stage;
  std::vector<core::Guard> where;  // empty: everywhere
};
// None: a coordinate is not one variable, stretched and shifted.
std::optional<BufferPart> OverBuffer(const Problem& problem, const core::Stage& stage);

}  // namespace warpwright::schedule
