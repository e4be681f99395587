// Outputs whose parts are one formula: that of the inside, with positions beyond an edge taken at the edge, or at the
// opposite one. Filters of images and periodic domains are lifted as a part for every side and corner.
#pragma once

#include <optional>

#include "core/computation.h"

namespace warpwright::schedule {

enum class Edge : uint8_t { kClamped, kWrapped };

// What an output comes to on random content at small sizes.
struct PartsTrial {
  bool whole = false;        // every element is in one of the parts
  bool uniform = false;      // `inside`, over the whole buffer, gives the same
  std::optional<Edge> edge;  // under which it does, where it reads beyond edges
};
// `computation` writes the tensor that `inside` is a part of, and nothing else; `inside` is over the coordinates of
// that tensor. None: it cannot be computed at sizes that were tried. The judge has the last word on what follows.
std::optional<PartsTrial> TryParts(const core::Computation& computation, const core::Stage& inside);

}  // namespace warpwright::schedule
