#include "worker/worker_evaluator.h"

#include <fmt/format.h>

#include "worker/codec.h"

namespace warpwright {

Result<Frame> WorkerEvaluator::CallTwice(const Frame& frame, std::chrono::milliseconds deadline) {
  auto answer = supervisor_.Call(frame, deadline);
  if (!answer && answer.error().code == ErrorCode::kWorkerDied) answer = supervisor_.Call(frame, deadline);
  return answer;
}

Result<Inspection> WorkerEvaluator::Inspect(const SourceRef& source) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeCall(InspectCall{source}), deadlines_.source));
  return DecodeInspection(std::move(answer));
}

Result<RewriteOutcome> WorkerEvaluator::Rewrite(const RewriteRequest& request) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeCall(request), deadlines_.source));
  return DecodeRewrite(std::move(answer));
}

Result<SpliceOutcome> WorkerEvaluator::Splice(const SpliceRequest& request) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeCall(request), deadlines_.source));
  return DecodeSplice(std::move(answer));
}

Result<ExecuteOutcome> WorkerEvaluator::Execute(const ExecuteRequest& request) {
  auto answer = CallTwice(EncodeCall(request), deadlines_.execute);
  if (answer) return DecodeExecute(std::move(*answer));
  const int starts = supervisor_.starts();
  if (answer.error().code == ErrorCode::kTimeout)
    return ExecuteOutcome(Refused{"deadline", fmt::format("it did not compile and run within {} s", deadlines_.execute.count() / 1000), request.source.file, 0});
  // A worker that never lived is our fault, not the candidate's.
  if (answer.error().code == ErrorCode::kWorkerDied && starts > 0 && answer.error().message.find("exit code 3") == std::string::npos)
    return ExecuteOutcome(Refused{"crash", "it ended its worker twice: " + answer.error().message, request.source.file, 0});
  return Fail(answer.error());
}

}  // namespace warpwright
