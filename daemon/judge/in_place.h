// in-place: an output in the place of an input of the same type and shape. Callers may do that where the original
// computes the same there, which is found out by trying it, at its largest verified case too, or where the manifest
// says so. Private to judge/.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// On the inputs of `trial`, which the original has run. `tried`: whether some pair of buffers was.
Result<Failure> CheckInPlace(Judge::State& state, CandidateRuns& runs, const Trial& trial,
                             const std::shared_ptr<const TrialReference>& reference, bool& tried);

}  // namespace warpwright::judge
