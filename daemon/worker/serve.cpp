#include "worker/serve.h"

#include "worker/codec.h"
#include "worker/frame.h"

namespace warpwright {
namespace {

template <typename T>
Frame AnswerOrError(Result<T> result) {
  return result ? EncodeAnswer(std::move(*result)) : EncodeError(result.error());
}

Frame Handle(Service& service, Frame frame) {
  auto call = DecodeCall(std::move(frame));
  if (!call) return EncodeError(call.error());
  return std::visit(Overload{[&](const InspectCall& c) { return AnswerOrError(service.Inspect(c.source)); },
                             [&](const RewriteRequest& r) { return AnswerOrError(service.Rewrite(r)); },
                             [&](const SpliceRequest& r) { return AnswerOrError(service.Splice(r)); },
                             [&](const ExecuteRequest& r) { return AnswerOrError(service.Execute(r)); }},
                    *call);
}

}  // namespace

Status Serve(Service& service, int in, int out) {
  constexpr auto kForever = std::chrono::hours(24 * 365);
  for (;;) {
    auto frame = ReadFrame(in, std::chrono::steady_clock::now() + kForever);
    if (!frame) {
      if (frame.error().code == ErrorCode::kWorkerDied) return {};  // the supervisor closed its end: done
      return Fail(frame.error());
    }
    WW_TRY(WriteFrame(out, Handle(service, std::move(*frame)), std::chrono::steady_clock::now() + std::chrono::minutes(10)));
  }
}

}  // namespace warpwright
