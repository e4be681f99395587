// Where buffers end: at the last element that the original touches. A caller's buffer may be a view, whose last row
// ends its allocation with its last column, whatever the pitch says; a manifest declares whole rows, so that reading
// the padding behind the last one is never out of bounds. Private to judge/.
#pragma once

#include "judge/judge_state.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// Each verified case in which the original leaves the end of an argument untouched, with the argument cut off there. On
// the simulator, also for a candidate for a GPU.
Result<Failure> CheckBufferEnds(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator);

}  // namespace warpwright::judge
