// Which elements of each stage are needed for some elements of the outputs.
#pragma once

#include "core/computation_evaluate.h"

namespace warpwright::core {

// By stage: positions in its box, counted row by row, ascending. An element that data selects (a gather) may be any:
// then the whole tensor is needed. kUsage: elements that an output does not have. kLimit: evaluating them takes more
// than `work_limit` steps.
Result<std::vector<std::vector<int64_t>>> DemandedPoints(const Program& program, const OutputElements& elements,
                                                         uint64_t work_limit);

}  // namespace warpwright::core
