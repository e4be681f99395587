#include "worker/worker_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "worker/codec.h"

namespace warpwright::worker {
namespace {
double Seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

// Limits in processor time hold inside the worker, so that how busy a machine is does not decide what is found. The
// wall is for a worker that hangs.
std::chrono::milliseconds WallFor(double processor_seconds) {
  constexpr double kLeastShareOfProcessor = 0.1;
  return std::chrono::milliseconds(std::llround(1000 * std::max(processor_seconds, 0.0) / kLeastShareOfProcessor));
}

// A tool that did not answer: it took too long, or ended its worker.
std::string BeyondLimit(std::string_view tool, const Error& error, std::chrono::milliseconds limit) {
  if (error.code == ErrorCode::kTimeout) return fmt::format("the {} exceeded its limit of {} s", tool, Seconds(limit));
  return fmt::format("the {} exceeded its limit of memory, or crashed: {}", tool, error.message);
}

// What the candidate did to the worker, as the outcome of a verb.
template <typename Outcome>
Outcome FailureAs(const std::variant<Frame, core::CompileFailed, core::Refused>& outcome) {
  if (const auto* refused = std::get_if<core::Refused>(&outcome)) return *refused;
  return std::get<core::CompileFailed>(outcome);
}
}  // namespace

Result<Frame> WorkerEvaluator::CallWithRetry(const FrameView& frame, const CallLimits& limits) {
  const auto call = [&]() -> Result<Frame> {
    CallLimits in_time = limits;
    in_time.total = InTime(limits.total);
    in_time.start = InTime(limits.start);
    if (in_time.total.count() == 0) return Fail(deadline_->BreakOff());
    const auto begin = std::chrono::steady_clock::now();
    auto answer = supervisor_.Call(frame, in_time);
    if (answer || deadline_ == nullptr || !deadline_->over()) return answer;
    // Its answer would have said what it took: all of it counts for the stage that it was in.
    Account({{supervisor_.stage(), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}},
            begin);
    return Fail(deadline_->BreakOff());
  };
  auto answer = call();
  if (!answer && answer.error().code == ErrorCode::kWorkerDied && !supervisor_.abandoned()) answer = call();
  return answer;
}

// A source that the parser does not survive is the user's mistake, as it is where it is run.
Result<core::Inspection> WorkerEvaluator::Inspect(const core::SourceRef& source) {
  auto answer = CallWithRetry(EncodeInspect(source), {deadlines_.source, {}});
  if (answer) return DecodeInspection(std::move(*answer));
  Error error = answer.error();
  const bool ended = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kWorkerDied;
  if (!ended || supervisor_.abandoned() || (deadline_ != nullptr && deadline_->broke_off())) return Fail(error);
  return Fail(Error{.code = ErrorCode::kConfig,
                    .message = BeyondLimit("parser", error, deadlines_.source),
                    .file = source.file,
                    .remedy = "mend the source, or remove its kernels from .warpwright.yml"});
}

Result<core::RewriteOutcome> WorkerEvaluator::Rewrite(const core::RewriteRequest& request) {
  WW_ASSIGN(Frame answer, CallWithRetry(EncodeCall(request), {deadlines_.source, {}}));
  return DecodeRewrite(std::move(answer));
}

Result<core::SpliceOutcome> WorkerEvaluator::Splice(const core::SpliceRequest& request) {
  WW_ASSIGN(Frame answer, CallWithRetry(EncodeCall(request), {deadlines_.source, {}}));
  return DecodeSplice(std::move(answer));
}

Result<std::variant<Frame, core::CompileFailed, core::Refused>> WorkerEvaluator::Run(
    const FrameView& frame, const std::string& file, std::chrono::milliseconds deadline) {
  using Outcome = std::variant<Frame, core::CompileFailed, core::Refused>;
  const std::map<std::string, std::chrono::milliseconds> stages = {
      {std::string(kParseStage), std::min(deadlines_.parse, deadline)},
      {std::string(kCompileStage), std::min(deadlines_.compile, deadline)}};
  auto answer = CallWithRetry(frame, {deadline, stages});
  if (answer) return Outcome(std::move(*answer));
  const Error& error = answer.error();
  if (deadline_ != nullptr && deadline_->broke_off()) return Fail(error);
  const bool late = error.code == ErrorCode::kTimeout;
  if (!late && error.code != ErrorCode::kWorkerDied) return Fail(error);

  if (const auto limited = stages.find(supervisor_.stage()); limited != stages.end()) {
    const char* who = limited->first == kParseStage ? "parser" : "compiler";
    return Outcome(core::CompileFailed{fmt::format("{}: error: {}", file, BeyondLimit(who, error, limited->second))});
  }
  if (supervisor_.stage() == kLeaseStage) return Fail(error);  // it never got to run
  if (late)
    return Outcome(core::Refused{core::Check::kDeadline,
                                 fmt::format("it did not run within {} s: {}", Seconds(deadline), error.message), file,
                                 0});
  return Outcome(core::Refused{core::Check::kCrash, "it ended its worker twice: " + error.message, file, 0});
}

void WorkerEvaluator::Account(const std::map<std::string, double>& spent, std::chrono::steady_clock::time_point begin) {
  double elsewhere = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const auto& [stage, seconds] : spent) {
    seconds_[stage] += seconds;
    if (stage.find(':') == std::string::npos) elsewhere -= seconds;  // parts are already counted in their stage
  }
  seconds_["transfer"] += std::max(0.0, elsewhere);
}

Result<core::ExecuteOutcome> WorkerEvaluator::Execute(const core::ExecuteRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  WW_ASSIGN(auto outcome, Run(EncodeCall(request), request.source.file, deadlines_.execute));
  auto* frame = std::get_if<Frame>(&outcome);
  if (frame == nullptr) return FailureAs<core::ExecuteOutcome>(outcome);
  WW_ASSIGN(core::ExecuteOutcome answer, DecodeExecute(std::move(*frame)));
  if (auto* run = std::get_if<core::Executed>(&answer)) {
    if (run->as_sent.size() > request.buffers.size() || run->as_sent.size() != run->buffers.size())
      return Fail(ErrorCode::kCorrupt, "an answer whose buffers are not those of the request");
    for (size_t i = 0; i < run->as_sent.size(); ++i)
      if (run->as_sent[i]) run->buffers[i] = request.buffers[i].bytes;
    run->as_sent.clear();
    Account(run->seconds, begin);
  }
  return answer;
}

Result<core::TimeOutcome> WorkerEvaluator::Time(const core::TimeRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  WW_ASSIGN(auto outcome, Run(EncodeCall(request), request.candidate.file, deadlines_.execute));
  auto* frame = std::get_if<Frame>(&outcome);
  if (frame == nullptr) return FailureAs<core::TimeOutcome>(outcome);
  WW_ASSIGN(core::TimeOutcome answer, DecodeTime(std::move(*frame)));
  if (const auto* run = std::get_if<core::Timed>(&answer)) Account(run->seconds, begin);
  return answer;
}

Result<core::LiftOutcome> WorkerEvaluator::Lift(const core::LiftRequest& request) {
  // A shape that was begun in time may take as long again.
  const auto limit = WallFor(2 * request.seconds_limit);
  WW_ASSIGN(auto outcome, Run(EncodeCall(request), request.source.file, std::min(limit, deadlines_.execute)));
  return std::visit(Overload{[](Frame& frame) { return DecodeLift(std::move(frame)); },
                             [](core::CompileFailed& failed) {
                               return Result<core::LiftOutcome>(core::NotLifted{"not prepared", failed.log, false});
                             },
                             [](core::Refused& refused) {
                               const char* blocker = refused.check == core::Check::kDeadline ? "time limit"
                                                     : refused.check == core::Check::kCrash  ? "crash"
                                                                                             : "not prepared";
                               return Result<core::LiftOutcome>(core::NotLifted{blocker, refused.reason, false});
                             }},
                    outcome);
}

Result<core::Equivalence> WorkerEvaluator::Compare(const core::EquivalenceRequest& request) {
  // A shape that was begun in time may take longer, and so may compiling both versions.
  const auto limit = deadlines_.compile + WallFor(4 * request.seconds_limit);
  WW_ASSIGN(auto outcome, Run(EncodeCall(request), request.candidate.file, std::min(limit, deadlines_.execute)));
  const auto not_comparable = [](std::string blocker, std::string message) {
    return core::Equivalence{.outcome = core::NotComparable{std::move(blocker), std::move(message), true}};
  };
  return std::visit(Overload{[](Frame& frame) { return DecodeEquivalence(std::move(frame)); },
                             [&](core::CompileFailed& failed) {
                               return Result<core::Equivalence>(not_comparable("not prepared", failed.log));
                             },
                             [&](core::Refused& refused) {
                               return Result<core::Equivalence>(not_comparable(
                                   refused.check == core::Check::kDeadline ? "time limit" : "crash", refused.reason));
                             }},
                    outcome);
}

}  // namespace warpwright::worker
