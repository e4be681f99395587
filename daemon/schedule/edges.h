// Outputs whose parts are one formula: that of the inside, with positions beyond an edge taken at the edge, or at the
// opposite one. Filters of images and periodic domains are lifted as a part for every side and corner.
#pragma once

#include <optional>

#include "core/computation.h"
#include "schedule/problem.h"

namespace warpwright::schedule {

// Of the last three nothing is in memory: 0, and what loses against every other value.
enum class Edge : uint8_t { kClamped, kWrapped, kZero, kLowest, kHighest };
constexpr bool IsInMemory(Edge edge) { return edge == Edge::kClamped || edge == Edge::kWrapped; }

// What an output comes to on random content at small sizes.
struct PartsTrial {
  bool whole = false;        // every element is in one of the parts
  bool uniform = false;      // `inside`, over the whole buffer, gives the same
  std::optional<Edge> edge;  // under which it does, where it reads beyond edges
};
// `computation` writes the tensor that `inside` is a part of, and nothing else; `inside` is over the coordinates of
// that tensor. None: it cannot be computed at sizes that were tried. The judge has the last word on what follows.
std::optional<PartsTrial> TryParts(const core::Computation& computation, const core::Stage& inside);

// Leaves out the conditions on a reduction's terms that say where the tensors that they read end, where a value beyond
// the edge would do the same, and returns the edge: 0 in a sum of what is weighed, the lowest in a maximum. A weight
// that is data may be infinite: then a term of 0 and one that is left out differ. None: the stage is as it was.
std::optional<Edge> TakeEnds(const Problem& problem, core::Stage& stage);

}  // namespace warpwright::schedule
