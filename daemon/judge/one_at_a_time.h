// An evaluator that threads may share: their calls wait for each other. The original's process answers the oracle,
// which may be ahead of the checks, and the checks. Private to judge/.
#pragma once

#include <mutex>

#include "core/evaluator.h"

namespace warpwright::judge {

class OneAtATime final : public core::Evaluator {
 public:
  explicit OneAtATime(core::Evaluator& evaluator) : evaluator_(evaluator) {}
  Result<core::Inspection> Inspect(const core::SourceRef& source) override {
    return Alone(&core::Evaluator::Inspect, source);
  }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override {
    return Alone(&core::Evaluator::Rewrite, request);
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override {
    return Alone(&core::Evaluator::Splice, request);
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    return Alone(&core::Evaluator::Execute, request);
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override {
    return Alone(&core::Evaluator::Time, request);
  }
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request) override {
    return Alone(&core::Evaluator::Lift, request);
  }
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request) override {
    return Alone(&core::Evaluator::Compare, request);
  }

 private:
  template <typename Answer, typename Request>
  Answer Alone(Answer (core::Evaluator::*call)(const Request&), const Request& request) {
    const std::lock_guard lock(mutex_);
    return (evaluator_.*call)(request);
  }

  core::Evaluator& evaluator_;
  std::mutex mutex_;
};

}  // namespace warpwright::judge
