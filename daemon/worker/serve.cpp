#include "worker/serve.h"

#include "rewrite/derived_text.h"
#include "rewrite/finish_edit.h"
#include "rewrite/transform.h"
#include "schedule/schedule.h"
#include "source/inspect.h"
#include "source/splice.h"
#include "worker/codec.h"
#include "worker/frame.h"

namespace warpwright::worker {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kForever = std::chrono::hours(24 * 365);

struct Output {
  int pipe;
  SharedArea* area;
};
Status Write(const Output& out, const FrameView& frame) {
  return WriteFrame(out.pipe, frame, Clock::now() + kForever, out.area);
}

// A process that can do nothing more ends without an answer: the call is made once more, in another one.
template <typename T>
Status Answer(const Output& out, const Result<T>& result) {
  if (!result && result.error().code == ErrorCode::kWorkerDied) return Fail(result.error());
  return Write(out, result ? EncodeAnswer(*result) : EncodeError(result.error()));
}

Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest& request) {
  if (schedule::IsSchedule(request.transform)) return schedule::Apply(request);
  return rewrite::IsDerivedText(request.transform) ? rewrite::DeriveText(request) : rewrite::ApplyTransform(request);
}

Result<core::SpliceOutcome> Splice(core::SpliceRequest request) {
  if (request.finishes) request.edited = rewrite::FinishEdit(request);
  return source::Splice(request);
}

Status Handle(Service& service, Frame frame, const Output& out) {
  const auto call = DecodeCall(std::move(frame));
  if (!call) return Write(out, EncodeError(call.error()));
  return std::visit(Overload{[&](const InspectCall& c) { return Answer(out, source::InspectSource(c.source)); },
                             [&](const core::RewriteRequest& r) { return Answer(out, Rewrite(r)); },
                             [&](const core::SpliceRequest& r) { return Answer(out, Splice(r)); },
                             [&](const core::ExecuteRequest& r) { return Answer(out, service.Execute(r)); },
                             [&](const core::TimeRequest& r) { return Answer(out, service.Time(r)); },
                             [&](const core::LiftRequest& r) { return Answer(out, service.Lift(r)); },
                             [&](const core::EquivalenceRequest& r) { return Answer(out, service.Compare(r)); }},
                    *call);
}

}  // namespace

Status Serve(Service& service, int in, int to, const std::string& hello, std::optional<WorkerAreas> areas) {
  const Output out{to, areas ? &areas->writes : nullptr};
  // Failing to announce a stage is no reason to stop: the reply will not arrive either.
  service.OnStage([out](std::string_view stage) { (void)Write(out, {FrameKind::kStage, std::string(stage), {}}); });
  WW_TRY(Write(out, {FrameKind::kHello, (areas ? std::string(kSharesMemory) : std::string()) + hello, {}}));
  for (;;) {
    auto frame = ReadFrame(in, Clock::now() + kForever, areas ? &areas->reads : nullptr);
    if (!frame && frame.error().code == ErrorCode::kWorkerDied) return {};  // the supervisor closed its end: finished
    if (!frame) return Fail(frame.error());
    WW_TRY(Handle(service, std::move(*frame), out));
    if (!service.usable()) return {};  // a GPU's context does not survive a fault; the next call runs in a new process
  }
}

}  // namespace warpwright::worker
