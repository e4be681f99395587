// The stages that run a candidate at sizes that nobody declared (shapes.h), within bounds on what they take. Private to
// judge/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/shape_work.h"
#include "judge/shapes.h"
#include "judge/trial_runner.h"

namespace warpwright::judge {

class GeneratedShapes {
 public:
  GeneratedShapes(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator,
                  CandidateRuns& runs, TrialRunner& trials);

  // From now on, shapes are drawn from this.
  void UseSecret(uint64_t secret) { secret_ = secret; }
  Result<Failure> Odd(const core::Case& c, VerificationLevel effort);
  // Small ones of the case that counts, with its taps and strides; one also with special values. A search tries that
  // one alone: the path for these taps may be nobody else's.
  Result<Failure> LikeTimed(VerificationLevel effort);
  // Of more elements than a search would try.
  Result<Failure> Long(const core::Case& c);
  // From short to long, for a launcher that takes one path or another.
  Result<Failure> Swept(const core::Case& c);
  // Where a path begins that declared sizes never take; `sizes`: numbers that the candidate names.
  Result<Failure> Around(const core::Case& c, const std::vector<int64_t>& sizes);
  // With other values of arguments that are no sizes, and integers in buffers that may stand for nothing.
  Result<Failure> OtherArguments(const core::Case& c, const std::vector<double>& numbers_of_original);
  // Buffers that are aligned less than others, at sizes that ask for vectors.
  Result<Failure> Unaligned(const core::Case& c);
  // Where narrow counters overflow.
  Result<Failure> Counted(const core::Case& c);
  // Where what the candidate's kernels decide for all of their threads would be decided otherwise.
  Result<Failure> Decided(const core::Case& c);
  // Some blocks at sizes that are too much work: a fault, such as a race, that the original's have not.
  Result<Failure> Tiled(const core::Case& c);
  // Cases too large to be verified whole, at the lengths that matter: one dimension at a time is reduced.
  Result<Failure> Reduced();

 private:
  // Of the original, of one shape.
  struct Budget {
    uint64_t bytes = 0, instructions = 0;
  };
  Budget OddBudget(const core::Case& c) const;
  bool Fits(const core::Case& c, const Budget& budget) const;
  // Those of them that fit, one after the other, up to the first failure.
  Result<Failure> TryShapes(std::vector<Trial> trials, const Budget& budget);
  Result<Failure> TryShape(const Trial& trial, std::span<const Trial> later);
  // What it does wrong there; empty: nothing that was seen.
  Result<std::string> FaultOfOriginal(const Trial& trial);
  Result<bool> LeavesItsBuffers(const Trial& trial);
  Result<Failure> SimulateNothing(const Trial& trial);
  Result<Failure> CompareOfNothing(const Trial& trial, const std::vector<core::BufferContent>& inputs,
                                   const core::Executed& original, const core::Executed& run);
  Result<bool> AnswersWithNumbers(const Trial& trial);
  Result<Failure> TryLong(std::vector<core::Case> shapes, const Budget& budget);
  Result<std::vector<core::Decision>> DecisionsOf(const core::Case& c);

  Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator& evaluator_;
  CandidateRuns& runs_;
  TrialRunner& trials_;
  ShapeWork work_;
  uint64_t secret_ = 0;
};

}  // namespace warpwright::judge
