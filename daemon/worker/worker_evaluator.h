// The Evaluator port over a worker process.
//
// What happens to the worker is attributed to the candidate only if it happens twice: a worker that dies is restarted
// and called once more. A second death is Refused{Check::kCrash}, or CompileFailed if it happened in the parser or the
// compiler (which a template bomb drives beyond their memory limit). A missed deadline is CompileFailed or
// Refused{Check::kDeadline} immediately. For verbs without such outcomes both are Errors, and so is a worker that does
// not start. A call that the task's deadline cuts short is an Error as well: it says nothing about the candidate.
#pragma once

#include <chrono>

#include "base/deadline.h"
#include "core/evaluator.h"
#include "worker/supervisor.h"

namespace warpwright::worker {

struct WorkerDeadlines {
  std::chrono::milliseconds source{60'000};  // Inspect, Rewrite, Splice
  std::chrono::milliseconds execute{300'000};
  std::chrono::milliseconds parse{30'000};    // libclang and
  std::chrono::milliseconds compile{90'000};  // NVRTC, within `execute`
};

class WorkerEvaluator final : public core::Evaluator {
 public:
  explicit WorkerEvaluator(WorkerCommand command, WorkerDeadlines deadlines = {})
      : supervisor_(std::move(command)), deadlines_(deadlines) {}

  // Cuts every call short; it must outlive the evaluator.
  void SetDeadline(base::Deadline& deadline) { deadline_ = &deadline; }

  Result<core::Inspection> Inspect(const core::SourceRef& source) override;
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) override;
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest& request) override;
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override;
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override;
  Result<core::LiftOutcome> Lift(const core::LiftRequest& request) override;
  Result<core::Equivalence> Compare(const core::EquivalenceRequest& request) override;

  // The next call goes to a fresh process: for the final acceptance of a candidate.
  void Restart() { supervisor_.Stop(); }
  // As of Supervisor: of an evaluator that another thread calls.
  Status Begin() { return supervisor_.Begin(InTime(CallLimits().start)); }
  void Abandon() { supervisor_.Abandon(); }
  Supervisor& supervisor() { return supervisor_; }
  // Where the time of all calls went: the worker's stages, their parts as "run: time", and "transfer" for what the
  // worker did not see.
  const std::map<std::string, double>& seconds() const { return seconds_; }

 private:
  Result<Frame> CallWithRetry(const FrameView& frame, const CallLimits& limits);
  std::chrono::milliseconds InTime(std::chrono::milliseconds wanted) const {
    return deadline_ == nullptr ? wanted : deadline_->Within(wanted);
  }
  // A reply, or what the candidate did to the worker.
  Result<std::variant<Frame, core::CompileFailed, core::Refused>> Run(const FrameView& frame, const std::string& file,
                                                                      std::chrono::milliseconds deadline);

  Supervisor supervisor_;
  void Account(const std::map<std::string, double>& spent, std::chrono::steady_clock::time_point begin);

  WorkerDeadlines deadlines_;
  base::Deadline* deadline_ = nullptr;  // of the task
  std::map<std::string, double> seconds_;
};

}  // namespace warpwright::worker
