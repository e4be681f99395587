// One pointer for two outputs, as callers give it who need one of them: what the original makes of the others then, and
// of the shared one if it reads there what it wrote, a candidate has to make as well. Part of in-place. Private to
// judge/.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// On the simulator, also for a candidate for a GPU. Which of two values that a call only stores is the last one is
// chance, and no caller asks for it; nor are pairs tried where the manifest says which buffers callers put together.
Result<Failure> CheckSharedOutputs(Judge::State& state, CandidateRuns& runs, const Trial& trial);

}  // namespace warpwright::judge
