#include "worker/worker_evaluator.h"

#include <fmt/format.h>

#include "worker/codec.h"

namespace warpwright {
namespace {
double Seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }
}  // namespace

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
  const std::map<std::string, std::chrono::milliseconds> stages = {{std::string(kParseStage), deadlines_.parse},
                                                                   {std::string(kCompileStage), deadlines_.compile}};
  auto answer = CallTwice(EncodeCall(request), {deadlines_.execute, stages});
  if (answer) return DecodeExecute(std::move(*answer));
  const Error& error = answer.error();
  const bool late = error.code == ErrorCode::kTimeout;
  if (!late && error.code != ErrorCode::kWorkerDied) return Fail(error);

  const std::string& file = request.source.file;
  if (const auto limited = stages.find(supervisor_.stage()); limited != stages.end()) {
    const char* who = limited->first == kParseStage ? "parser" : "compiler";
    if (late) return ExecuteOutcome(CompileFailed{fmt::format("{}: error: the {} exceeded its limit of {} s", file, who, Seconds(limited->second))});
    return ExecuteOutcome(CompileFailed{fmt::format("{}: error: the {} exceeded its limit of memory, or crashed: {}", file, who, error.message)});
  }
  if (late) return ExecuteOutcome(Refused{"deadline", fmt::format("it did not run within {} s: {}", Seconds(deadlines_.execute), error.message), file, 0});
  return ExecuteOutcome(Refused{"crash", "it ended its worker twice: " + error.message, file, 0});
}

}  // namespace warpwright
