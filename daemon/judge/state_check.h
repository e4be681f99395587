// module-state: whether a result may depend on earlier calls. On the simulator that is known byte by byte
// (core/state_use.h), also across trials: what one shape leaves, another may find. On a GPU only what changed is known.
// In small trials the simulator of the same chip is asked about it; in others, which would take it seconds, the GPU
// makes calls on other inputs first, and the result must be the same. Nothing can be gained there by what is kept: a
// timed call finds its variables as they were loaded, and inputs that were never used. Private to judge/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// What of a run alone shows that its result may depend on earlier calls: "calls, of which byte 0 is read".
std::optional<std::string> FindState(const core::Executed& run);

class StateCheck {
 public:
  StateCheck(Judge::State& state, CandidateRuns& runs) : state_(state), runs_(runs) {}
  // State that the manifest allows, or that the original has, must still give the original's results after other
  // calls.
  Result<Failure> Check(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                        const core::Executed& run);
  // Calls on two streams at once, where the entry's caller gives the stream: what a candidate keeps is shared by both,
  // also what every call fills before it reads it. Operations take turns as wholes: what a single launch fills and
  // reads is not tried.
  Result<Failure> CheckOverlapping(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                                   const core::Executed& run);

 private:
  struct Finding {
    std::optional<std::string> state;
    bool unknown = false;  // what a GPU's run read of what it changed
  };
  Result<Finding> Find(const Trial& trial, const TrialReference& reference, const core::Executed& run);
  Result<std::optional<std::vector<core::StateUse>>> Simulated(const Trial& trial, const TrialReference& reference);
  Result<Failure> AfterEarlierCalls(const Trial& trial, const std::shared_ptr<const TrialReference>& reference,
                                    const core::Executed& run);

  Judge::State& state_;
  CandidateRuns& runs_;
  std::vector<core::StateUse> known_;  // of all trials so far
  int overlapping_ = 0;                // trials of calls at the same time
};

}  // namespace warpwright::judge
