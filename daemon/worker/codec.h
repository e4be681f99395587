// Calls and answers as frames. {"verb": "execute", "body": ...} goes out; {"ok": ...} or {"error": ...} comes back. Decoders take untrusted
// frames and never throw.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "core/evaluator.h"
#include "worker/frame.h"

namespace warpwright {

struct InspectCall {
  SourceRef source;
};
using Call = std::variant<InspectCall, RewriteRequest, SpliceRequest, ExecuteRequest>;

Frame EncodeCall(const Call& call);
Result<Call> DecodeCall(Frame frame);

Frame EncodeError(const Error& error);
Frame EncodeAnswer(const Inspection& answer);
Frame EncodeAnswer(const RewriteOutcome& answer);
Frame EncodeAnswer(const SpliceOutcome& answer);
Frame EncodeAnswer(ExecuteOutcome answer);

// An error that the worker reported comes back as that error; a frame that does not decode as kCorrupt.
Result<Inspection> DecodeInspection(Frame frame);
Result<RewriteOutcome> DecodeRewrite(Frame frame);
Result<SpliceOutcome> DecodeSplice(Frame frame);
Result<ExecuteOutcome> DecodeExecute(Frame frame);

}  // namespace warpwright
