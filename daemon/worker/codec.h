// Calls and answers as frames. {"verb": "execute", ...} goes out; {"ok": ...} or {"error": ...} comes back. Encoders refer to the bytes of
// what they encode, which must live until the frame is written. Decoders take untrusted frames and never throw.
#pragma once

#include <string_view>
#include <variant>

#include "base/result.h"
#include "core/evaluator.h"
#include "worker/frame.h"

namespace warpwright {

// Stages that the worker announces, in their order.
inline constexpr std::string_view kParseStage = "parse";
inline constexpr std::string_view kRecordStage = "record";
inline constexpr std::string_view kCompileStage = "compile";
inline constexpr std::string_view kLeaseStage = "lease";  // waits for a GPU that others use
inline constexpr std::string_view kRunStage = "run";

struct InspectCall {
  SourceRef source;
};
using Call = std::variant<InspectCall, RewriteRequest, SpliceRequest, ExecuteRequest, TimeRequest>;

FrameView EncodeInspect(const SourceRef& source);
FrameView EncodeCall(const RewriteRequest& request);
FrameView EncodeCall(const SpliceRequest& request);
FrameView EncodeCall(const ExecuteRequest& request);
FrameView EncodeCall(const TimeRequest& request);
Result<Call> DecodeCall(Frame frame);

FrameView EncodeError(const Error& error);
FrameView EncodeAnswer(const Inspection& answer);
FrameView EncodeAnswer(const RewriteOutcome& answer);
FrameView EncodeAnswer(const SpliceOutcome& answer);
FrameView EncodeAnswer(const ExecuteOutcome& answer);
FrameView EncodeAnswer(const TimeOutcome& answer);

// An error that the worker reported comes back as that error; a frame that does not decode as kCorrupt.
Result<Inspection> DecodeInspection(Frame frame);
Result<RewriteOutcome> DecodeRewrite(Frame frame);
Result<SpliceOutcome> DecodeSplice(Frame frame);
Result<ExecuteOutcome> DecodeExecute(Frame frame);
Result<TimeOutcome> DecodeTime(Frame frame);

}  // namespace warpwright
