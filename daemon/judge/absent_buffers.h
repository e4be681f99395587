// Buffers that the original does without, as a layer without a bias: a null pointer in the place of one at a time,
// which is found out by trying it. Whether a candidate does what the original does then is part of other-scalars: an
// argument with another value. Private to judge/.
#pragma once

#include "judge/judge_state.h"
#include "judge/run_checks.h"
#include "judge/trial.h"

namespace warpwright::judge {

// On the simulator, also for a candidate for a GPU, which would lose its context at a null pointer. The results are
// compared roughly: what is known of their rounding is known of calls with all buffers.
Result<Failure> CheckAbsentBuffers(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                                   const Trial& trial);

}  // namespace warpwright::judge
