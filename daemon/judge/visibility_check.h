// Reads of what another block of the same launch wrote and no fence made visible, and reads through the read-only path
// of what the launch wrote: right on the simulator, whose blocks share one memory, and on a GPU most of the time.
// Private to judge/.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// On the simulator, also for a candidate for a GPU. Nothing where the original reads so too: that is noted.
Result<Failure> CheckVisibility(Judge::State& state, CandidateRuns& runs, const Trial& trial);

}  // namespace warpwright::judge
