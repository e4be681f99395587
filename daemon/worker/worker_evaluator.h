// The Evaluator port over a worker process.
//
// What the candidate does to its worker is the candidate's fault only if it happens twice: a worker that dies is started again and asked
// once more. A second death is Refused{"crash"}, a missed deadline Refused{"deadline"}. For verbs without a Refused outcome both are Errors.
#pragma once

#include <chrono>
#include <functional>

#include "core/evaluator.h"
#include "worker/supervisor.h"

namespace warpwright {

struct WorkerDeadlines {
  std::chrono::milliseconds source{60'000};    // Inspect, Rewrite, Splice
  std::chrono::milliseconds execute{300'000};
};

class WorkerEvaluator final : public Evaluator {
 public:
  explicit WorkerEvaluator(WorkerCommand command, WorkerDeadlines deadlines = {})
      : supervisor_(std::move(command)), deadlines_(deadlines) {}

  Result<Inspection> Inspect(const SourceRef& source) override;
  Result<RewriteOutcome> Rewrite(const RewriteRequest& request) override;
  Result<SpliceOutcome> Splice(const SpliceRequest& request) override;
  Result<ExecuteOutcome> Execute(const ExecuteRequest& request) override;

  // The next call meets a fresh process: for the final acceptance of a candidate.
  void Restart() { supervisor_.Stop(); }
  Supervisor& supervisor() { return supervisor_; }

 private:
  Result<Frame> CallTwice(const Frame& frame, std::chrono::milliseconds deadline);

  Supervisor supervisor_;
  WorkerDeadlines deadlines_;
};

}  // namespace warpwright
