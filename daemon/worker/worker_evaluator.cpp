#include "worker/worker_evaluator.h"

#include <fmt/format.h>

#include "worker/codec.h"

namespace warpwright {

Result<Frame> WorkerEvaluator::CallTwice(const FrameView& frame, const CallLimits& limits) {
  auto answer = supervisor_.Call(frame, limits);
  if (!answer && answer.error().code == ErrorCode::kWorkerDied) answer = supervisor_.Call(frame, limits);
  return answer;
}

Result<Inspection> WorkerEvaluator::Inspect(const SourceRef& source) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeInspect(source), {deadlines_.source, {}}));
  return DecodeInspection(std::move(answer));
}

Result<RewriteOutcome> WorkerEvaluator::Rewrite(const RewriteRequest& request) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeCall(request), {deadlines_.source, {}}));
  return DecodeRewrite(std::move(answer));
}

Result<SpliceOutcome> WorkerEvaluator::Splice(const SpliceRequest& request) {
  WW_ASSIGN(Frame answer, CallTwice(EncodeCall(request), {deadlines_.source, {}}));
  return DecodeSplice(std::move(answer));
}

Result<ExecuteOutcome> WorkerEvaluator::Execute(const ExecuteRequest& request) {
  auto answer = CallTwice(EncodeCall(request), {deadlines_.execute, {{std::string(kCompileStage), deadlines_.compile}}});
  if (answer) return DecodeExecute(std::move(*answer));
  const Error& error = answer.error();
  const bool late = error.code == ErrorCode::kTimeout;
  if (!late && error.code != ErrorCode::kWorkerDied) return Fail(error);
  if (supervisor_.stage() == kCompileStage)
    return ExecuteOutcome(CompileFailed{late ? fmt::format("{}: error: the compiler exceeded its limit of {} s", request.source.file, deadlines_.compile.count() / 1000)
                                             : fmt::format("{}: error: the compiler exceeded its limit of memory, or crashed: {}", request.source.file, error.message)});
  if (late)
    return ExecuteOutcome(Refused{"deadline", fmt::format("it did not run within {} s: {}", deadlines_.execute.count() / 1000, error.message), request.source.file, 0});
  return ExecuteOutcome(Refused{"crash", "it ended its worker twice: " + error.message, request.source.file, 0});
}

}  // namespace warpwright
