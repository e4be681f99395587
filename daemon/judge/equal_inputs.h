// Calls with the same content in two inputs, as of distances among one set of points, or of attention to itself: what
// is made of differences of both is near zero there, and nothing else gives such inputs. Part of distributions. Private
// to judge/.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// Of inputs of the same type and shape, a few pairs.
Result<Failure> CheckEqualInputs(Judge::State& state, CandidateRuns& runs, const Trial& trial);

}  // namespace warpwright::judge
