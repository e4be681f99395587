// One trial of a candidate: both sides run, and everything about the candidate's run is checked. Private to judge/.
#pragma once

#include <map>
#include <span>
#include <utility>

#include "judge/run_checks.h"
#include "judge/state_check.h"
#include "judge/timing.h"

namespace warpwright::judge {

class TrialRunner {
 public:
  TrialRunner(Judge::State& state, CandidateRuns& runs, StateCheck& state_check, PairedTiming& timing,
              core::Measured& measured)
      : state_(state), runs_(runs), state_check_(state_check), timing_(timing), measured_(measured) {}

  // What the original cannot do is not required of the candidate. `later`: the trials after this one, as far as they
  // are known; they are prepared meanwhile.
  Result<Failure> Try(const Trial& trial, std::span<const Trial> later = {});
  // One after the other, up to the first failure.
  Result<Failure> TryAll(const std::vector<Trial>& trials);
  // Among the checks of the verdict, each once.
  void Passed(core::Check check);

  // Numbers that launchers of the candidate compared with in several trials since this was asked last, and that are no
  // arguments: a limit stays the same, what a launcher computes from its sizes does not.
  std::vector<double> TakeCompared();

 private:
  Result<std::shared_ptr<const TrialReference>> Reference(const Trial& trial);
  Result<std::optional<Mismatch>> Compare(const Trial& trial, std::shared_ptr<const TrialReference>& reference,
                                          const core::Executed& run);
  Result<std::optional<Mismatch>> CompareFinite(const Trial& trial, const TrialReference& reference,
                                                const core::Executed& run, Mismatch mismatch);

  Judge::State& state_;
  CandidateRuns& runs_;
  StateCheck& state_check_;
  PairedTiming& timing_;
  core::Measured& measured_;
  std::map<double, int> compared_;  // in how many trials
};

}  // namespace warpwright::judge
