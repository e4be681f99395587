// Sizes that no machine here holds: more elements than 32 bits count. The simulator has sparse memory (its inputs are a
// tile of the usual distribution, over and over), of each side a few blocks all over the grid run, and what both have
// written is compared. So an offset in 32 bits, a grid that ends too early and a path that begins beyond some size are
// found where they go wrong. Private to judge/.
//
// So are sizes beyond 16 bits at which the whole is too much work: a number that is kept in two bytes, where work grows
// with the square of the size. And so are the cases that are declared for other devices.
//
// Blocks that add to one result, and plans of several launches, are only looked at for faults: what other blocks would
// have written is missing. Cheaper arithmetic is no concern here either: there is no truth at such sizes, so that only
// values count that are plainly others.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/candidate_runs.h"
#include "judge/run_checks.h"
#include "judge/shape_work.h"

namespace warpwright::judge {

class HugeShapes {
 public:
  // `trusted` runs the original, `evaluator` the candidate. `lines`: it is asked which lines ran.
  HugeShapes(const Judge::State& state, const core::SourceRef& candidate, core::Evaluator& trusted,
             core::Evaluator& evaluator, bool lines)
      : state_(state), candidate_(candidate), trusted_(trusted), evaluator_(evaluator), lines_(lines) {}

  // `named`: numbers that the candidate names and that may be counts of elements: they are gone beyond. Takes nothing
  // from the state that changes, so that it may run in another thread.
  Result<Failure> Try(const core::Case& c, uint64_t secret, const std::vector<double>& named);
  // What Try has to say beside its result.
  void Tell(Judge::State& state, AddedCode& added) const;

 private:
  // nullopt: the original cannot; `why` is its verdict, if that is no matter of the device.
  // Of so many thread instructions of the original, and four times as many of the candidate.
  Result<std::optional<Failure>> TryShape(const core::Case& shape, uint64_t seed, uint64_t instructions,
                                          std::optional<core::Verdict>& why);
  Result<Failure> TryBeyondShorts(const core::Case& c, uint64_t secret);
  Result<Failure> TryOtherDevices(uint64_t secret);
  std::optional<double> InstructionsOfBlock(const core::Case& shape, const ShapeWork& work) const;
  Result<RunOutcome> Execute(const core::SourceRef& source, core::Evaluator& evaluator, const core::Case& shape,
                             const std::vector<core::BufferContent>& inputs, core::ExecuteOptions options) const;
  // Whether the original may do there what the candidate was caught at.
  Result<bool> MayBeTheOriginals(const core::Case& shape, const std::vector<core::BufferContent>& inputs,
                                 const core::Executed& original) const;
  std::optional<Mismatch> Compare(const core::Case& shape, const std::vector<core::BufferContent>& inputs,
                                  const core::Executed& original, const core::Executed& candidate) const;
  std::string Device() const;

  const Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator &trusted_, &evaluator_;
  const bool lines_;
  std::vector<std::string> notes_;
  std::vector<std::vector<core::LineUse>> ran_;
};

}  // namespace warpwright::judge
