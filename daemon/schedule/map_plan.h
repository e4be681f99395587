// Outputs whose elements are computed each by itself: which they are, what they need, and in which order they lie.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "schedule/dimensions.h"
#include "schedule/parts.h"

namespace warpwright::schedule {

struct MapPlan {
  std::vector<BufferPart> outputs;  // parts of one buffer beside each other
  std::vector<size_t> windows;      // stages
  std::vector<Dimension> dimensions;
  Packing packing;
  std::set<std::string> read_elsewhere;  // tensors of which results are made that do not stand in their places
};
using MapPlanOutcome = std::variant<core::RewriteRefusal, MapPlan>;
// `vector_bytes`: of the widest access.
MapPlanOutcome PlanMap(const Problem& problem, const Group& group, int vector_bytes);

// A read whose last coordinate runs with the dimension, from a place on that all share, and whose others do not know
// it: of rows that data names.
bool IsGatheredRow(const Problem& problem, const core::Stage& stage, const core::TensorRead& read,
                   const Dimension& last);

}  // namespace warpwright::schedule
