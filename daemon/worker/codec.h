// Calls and replies as frames. {"verb": "execute", ...} is sent; {"ok": ...} or {"error": ...} is returned. Encoders
// refer to the bytes of what they encode, which must live until the frame is written. Decoders take untrusted frames
// and never throw.
#pragma once

#include <string_view>
#include <variant>

#include "base/result.h"
#include "core/evaluator.h"
#include "worker/frame.h"

namespace warpwright::worker {

// Stages that the worker announces, in order.
inline constexpr std::string_view kParseStage = "parse";
inline constexpr std::string_view kRecordStage = "record";
inline constexpr std::string_view kCompileStage = "compile";
inline constexpr std::string_view kLeaseStage = "lease";  // waits for a GPU that other processes use
inline constexpr std::string_view kRunStage = "run";

struct InspectCall {
  core::SourceRef source;
};
using Call = std::variant<InspectCall, core::RewriteRequest, core::SpliceRequest, core::ExecuteRequest,
                          core::TimeRequest, core::LiftRequest, core::EquivalenceRequest>;

FrameView EncodeInspect(const core::SourceRef& source);
FrameView EncodeCall(const core::RewriteRequest& request);
FrameView EncodeCall(const core::SpliceRequest& request);
FrameView EncodeCall(const core::ExecuteRequest& request);
FrameView EncodeCall(const core::TimeRequest& request);
FrameView EncodeCall(const core::LiftRequest& request);
FrameView EncodeCall(const core::EquivalenceRequest& request);
Result<Call> DecodeCall(Frame frame);

FrameView EncodeError(const Error& error);
FrameView EncodeAnswer(const core::Inspection& answer);
FrameView EncodeAnswer(const core::RewriteOutcome& answer);
FrameView EncodeAnswer(const core::SpliceOutcome& answer);
FrameView EncodeAnswer(const core::ExecuteOutcome& answer);
FrameView EncodeAnswer(const core::TimeOutcome& answer);
FrameView EncodeAnswer(const core::LiftOutcome& answer);
FrameView EncodeAnswer(const core::Equivalence& answer);

// An error that the worker reported is returned as that error; a frame that does not decode as kCorrupt.
Result<core::Inspection> DecodeInspection(Frame frame);
Result<core::RewriteOutcome> DecodeRewrite(Frame frame);
Result<core::SpliceOutcome> DecodeSplice(Frame frame);
Result<core::ExecuteOutcome> DecodeExecute(Frame frame);
Result<core::TimeOutcome> DecodeTime(Frame frame);
Result<core::LiftOutcome> DecodeLift(Frame frame);
Result<core::Equivalence> DecodeEquivalence(Frame frame);

}  // namespace warpwright::worker
