// Reads of what another block of the same launch wrote and no fence made visible, also those of volatile and atomic
// stores on which a result depends, or through the read-only path of what
// the launch wrote, and threads that meet in global memory without a barrier: right on the simulator, whose blocks
// share one memory and whose warps run in step, and on a GPU most of the time. Private to judge/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// Of the original in a case: beyond, a check that simulates it whole, or tries it on many inputs, takes a cheaper one.
inline constexpr uint64_t kMostInstructionsForInputs = 12'000'000;

using RunComparison = std::function<Result<std::optional<Mismatch>>(const core::Executed&)>;

// On the simulator, also for a candidate for a GPU. Nothing where the original does so too: that is noted. `compare`:
// what is wrong with a run on these inputs; empty: what the trial's own comparison says.
Result<Failure> CheckVisibility(Judge::State& state, CandidateRuns& runs, const Trial& trial,
                                const std::vector<core::BufferContent>& inputs, const RunComparison& compare = {});

}  // namespace warpwright::judge
