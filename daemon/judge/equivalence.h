// equivalence: original and candidate are executed over symbols in the candidate's worker (core/equivalence.h), and the
// expressions of all output elements compared. A second witness beside the numbers, which it never replaces:
//  - `equal` is a check that passed. A worker that lies gains nothing but this line.
//  - `different` comes with an input. Both sides run on it as on any other, and only if the comparison of
//  judge/compare.h
//    says so is the candidate refused; else it is a note.
//  - Where either side cannot be followed, that is a note.
#pragma once

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"

namespace warpwright::judge {

// What the candidate's worker says: at the smallest shapes, and where both are equal there, around the numbers that its
// text names.
struct EquivalenceAnswers {
  core::Equivalence small;
  std::optional<core::Equivalence> around;
};
// Takes nothing from the judge's state, so that it may be asked in another thread.
Result<EquivalenceAnswers> AskForEquivalence(const core::KernelSpec& spec, const core::SourceRef& original,
                                             const core::SourceRef& candidate, const std::string& device,
                                             core::Evaluator& evaluator);

// Adds the check, if it passed, and notes for reviewers to `measured`. `evaluator` runs what shows a difference.
Result<Failure> CheckEquivalence(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                                 const EquivalenceAnswers& answers, core::Measured& measured);

}  // namespace warpwright::judge
