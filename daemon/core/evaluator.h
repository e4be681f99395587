// The port for everything that touches untrusted source or kernels, which happens in another process. The daemon's side
// is worker/worker_evaluator.h; tests use tests/support/fake_evaluator.h.
//
// Methods return an Error if warpwright failed (the worker died, a deadline passed), and a value, which may be a
// refusal, if the candidate is at fault.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "core/equivalence.h"
#include "core/execution.h"
#include "core/inspection.h"
#include "core/lifting.h"
#include "core/paired_timing.h"
#include "core/source_requests.h"

namespace warpwright::core {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual Result<Inspection> Inspect(const SourceRef& source) = 0;
  virtual Result<RewriteOutcome> Rewrite(const RewriteRequest& request) = 0;
  virtual Result<SpliceOutcome> Splice(const SpliceRequest& request) = 0;
  virtual Result<ExecuteOutcome> Execute(const ExecuteRequest& request) = 0;
  // kUnsupported if the device only models times.
  virtual Result<TimeOutcome> Time(const TimeRequest& request) = 0;
  // What the entry computes, and whether two versions of it compute the same. NotLifted and NotComparable unless an
  // implementation has an executor of expressions.
  virtual Result<LiftOutcome> Lift(const LiftRequest& request);
  virtual Result<Equivalence> Compare(const EquivalenceRequest& request);
};

// Another process with an evaluator in it, for what is done beside the work of a first one, in another thread. It is
// made by the thread that owns the task: a worker does not outlive the thread that started it.
struct OtherProcess {
  std::unique_ptr<Evaluator> evaluator;
  std::function<void()> abandon;  // from any thread: what it is at ends soon, in an Error
};
using ProcessSource = std::function<Result<OtherProcess>()>;

}  // namespace warpwright::core
