// Checks of a full evaluation that need no GPU. They take seconds of the processor: where there are other processes for
// them, they run beside the checks on the device, each in a thread of its own. What they say is taken where they stand
// among the stages of judge.h, so that a verdict does not depend on who was faster. Private to judge/.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "judge/equivalence.h"
#include "judge/huge_shapes.h"

namespace warpwright::judge {

class Beside {
 public:
  // `evaluator` runs the candidate where there are no other processes.
  Beside(Judge::State& state, const core::SourceRef& candidate, core::Evaluator& evaluator)
      : state_(state), candidate_(candidate), evaluator_(evaluator) {}
  // What is under way is abandoned: nobody asks for it any more.
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  void BeginEquivalence();
  Result<EquivalenceAnswers> Equivalence();

  void BeginHuge(const core::Case& c, uint64_t secret, std::vector<double> named, bool lines);
  Result<Failure> Huge(AddedCode& added);

 private:
  // nullptr, with a note: it does not start.
  core::Evaluator* Another();

  Judge::State& state_;
  const core::SourceRef& candidate_;
  core::Evaluator& evaluator_;
  std::vector<core::OtherProcess> processes_;
  std::optional<HugeShapes> huge_;
  std::function<Result<EquivalenceAnswers>()> ask_;
  std::function<Result<Failure>()> try_;
  // The last members: their destructors wait for the threads.
  std::future<Result<EquivalenceAnswers>> answers_;
  std::future<Result<Failure>> tried_;
};

}  // namespace warpwright::judge
