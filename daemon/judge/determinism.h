// determinism: whether a candidate gives the same outputs in further runs on the same inputs. Private to judge/.
#pragma once

#include <string>
#include <vector>

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

class DeterminismCheck {
 public:
  DeterminismCheck(Judge::State& state, CandidateRuns& runs) : state_(state), runs_(runs) {}

  // `second`: a run with other guard bands and poison.
  Result<Failure> OfFurtherRuns(const Trial& trial, const TrialReference& reference, const core::Executed& first,
                                const core::Executed& second);
  // Runs concurrently with other work on the device.
  Result<Failure> BesideOtherWork(const Trial& trial, const TrialReference& reference, const core::Executed& first);

 private:
  // An output of another run that differs: a failure if the original's does not differ in such runs and nothing allows
  // it; otherwise it must be correct too.
  Result<Failure> Differs(const Trial& trial, const TrialReference& reference, const RunKind& kind,
                          const std::vector<base::Bytes>& first, const std::vector<base::Bytes>& other,
                          const std::string& when);

  Judge::State& state_;
  CandidateRuns& runs_;
};

}  // namespace warpwright::judge
