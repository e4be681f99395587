// The check dead-code (dead_code.h): the runs that are made only to see which of a candidate's lines they run, and its
// verdict. Private to judge/.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/generated_shapes.h"
#include "judge/trial_runner.h"

namespace warpwright::judge {

class DeadCodeCheck {
 public:
  struct Of {
    Judge::State& state;
    const core::SourceRef& candidate;
    core::Evaluator& evaluator;
    VerificationLevel effort;
    CandidateRuns& runs;
    GeneratedShapes& shapes;
    TrialRunner& trials;
    core::Measured& measured;
  };
  explicit DeadCodeCheck(Of of) : of_(of) {}

  // After all other runs of the evaluation. `small`: the case that odd shapes are made of, which `secret` draws.
  Result<Failure> Check(const core::Case& small, uint64_t secret);

 private:
  Status SimulateForLines(const Trial& trial);
  Status SimulateCases(const core::Case& small, uint64_t secret);
  void SimulateSpecialInputs(uint64_t secret);
  const Of of_;
};

}  // namespace warpwright::judge
