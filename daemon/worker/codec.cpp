#include "worker/codec.h"

#include "worker/json_types.h"

namespace warpwright {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;

json ParseHeader(const std::string& header) {
  const auto limit = [](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) throw DecodeError("nested too deep");
    return true;
  };
  return json::parse(header, limit);
}

std::string Dump(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

// Runs a decoder and turns what it throws into an Error.
template <typename F>
auto Guarded(F&& decode) -> Result<decltype(decode())> {
  try {
    return decode();
  } catch (const std::exception& e) {
    return Fail(ErrorCode::kCorrupt, std::string("a frame that does not decode: ") + e.what());
  }
}

Bytes TakeAttachment(Frame& frame, const json& index) {
  const auto at = index.get<size_t>();
  if (at >= frame.attachments.size()) throw DecodeError("an attachment that is not there");
  return std::move(frame.attachments[at]);
}
std::string TakeText(Frame& frame, const json& index) {
  const Bytes bytes = TakeAttachment(frame, index);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json EncodeSource(const SourceRef& source, FrameView& frame) {
  return {{"root", source.root}, {"file", source.file}, {"text", frame.Attach(source.text)}};
}
SourceRef DecodeSource(const json& j, Frame& frame) { return {j.at("root"), j.at("file"), TakeText(frame, j.at("text"))}; }

json EncodeBuffers(const std::vector<BufferContent>& buffers, FrameView& frame) {
  json list = json::array();
  for (const auto& b : buffers) {
    list.push_back({{"name", b.name}, {"bytes", frame.Attach(b.bytes)}, {"uninitialized", b.uninitialized}, {"read_only", b.read_only},
                    {"offset", b.pointer_offset}});
  }
  return list;
}
std::vector<BufferContent> DecodeBuffers(const json& list, Frame& frame) {
  std::vector<BufferContent> buffers;
  for (const auto& item : list) {
    BufferContent b;
    b.name = item.at("name");
    b.bytes = TakeAttachment(frame, item.at("bytes"));
    b.uninitialized = item.at("uninitialized");
    b.read_only = item.at("read_only");
    b.pointer_offset = item.at("offset");
    buffers.push_back(std::move(b));
  }
  return buffers;
}

json EncodeRewritten(const Rewritten& r, FrameView& frame) { return {{"text", frame.Attach(r.text)}, {"notes", r.notes}, {"entry", r.entry}}; }
Rewritten DecodeRewritten(const json& j, Frame& frame) {
  return {TakeText(frame, j.at("text")), j.at("notes").get<std::vector<std::string>>(), j.at("entry")};
}

using Contents = std::vector<Bytes>;
json EncodeContents(const Contents& contents, FrameView& frame) {
  json list = json::array();
  for (const auto& bytes : contents) list.push_back(frame.Attach(bytes));
  return list;
}
Contents DecodeContents(const json& list, Frame& frame) {
  Contents contents;
  for (const auto& index : list) contents.push_back(TakeAttachment(frame, index));
  return contents;
}

json EncodeExecuted(const Executed& e, FrameView& frame) {
  json precision = json::object();
  for (const auto& [what, use] : e.precision) precision[what] = {{"instruction", use.instruction}, {"file", use.file}, {"line", use.line}};
  return {{"precision", std::move(precision)}, {"as_sent", e.as_sent}, {"buffers", EncodeContents(e.buffers, frame)}, {"launches", e.launches}, {"time_us", e.time_us}, {"modelled", e.modelled},
          {"sampled", e.sampled}, {"guards", e.guards}, {"differing", e.differing_runs}, {"other", EncodeContents(e.other_buffers, frame)},
          {"globals", e.changed_globals}, {"notes", e.notes}, {"plan", e.plan_digest}, {"module", e.module_key}, {"seconds", e.seconds}};
}
Executed DecodeExecuted(const json& j, Frame& frame) {
  Executed e;
  e.buffers = DecodeContents(j.at("buffers"), frame);
  e.as_sent = j.at("as_sent").get<std::vector<bool>>();
  e.launches = j.at("launches").get<std::vector<LaunchReport>>();
  e.time_us = j.at("time_us");
  e.modelled = j.at("modelled");
  e.sampled = j.at("sampled");
  e.guards = j.at("guards").get<std::vector<GuardViolation>>();
  e.differing_runs = j.at("differing");
  e.other_buffers = DecodeContents(j.at("other"), frame);
  e.notes = j.at("notes").get<std::vector<std::string>>();
  e.changed_globals = j.at("globals").get<std::vector<std::string>>();
  for (const auto& [what, use] : j.at("precision").items()) e.precision[what] = {use.at("instruction"), use.at("file"), use.at("line")};
  e.plan_digest = j.at("plan");
  e.module_key = j.at("module");
  e.seconds = j.at("seconds").get<std::map<std::string, double>>();
  return e;
}

json EncodeTimed(const Timed& t, FrameView& frame) {
  json kept = json::array();
  for (const auto& k : t.kept)
    kept.push_back({{"pair", k.pair}, {"original", EncodeContents(k.original, frame)}, {"candidate", EncodeContents(k.candidate, frame)}});
  return {{"pairs", t.pairs}, {"kept", kept}, {"launches", t.launches_per_sample}, {"empty_us", t.empty_us}, {"hot_original_us", t.hot_original_us},
          {"hot_candidate_us", t.hot_candidate_us}, {"guards", t.guards}, {"seconds", t.seconds}};
}
Timed DecodeTimed(const json& j, Frame& frame) {
  Timed t;
  t.pairs = j.at("pairs").get<std::vector<TimedPair>>();
  for (const auto& k : j.at("kept"))
    t.kept.push_back({k.at("pair"), DecodeContents(k.at("original"), frame), DecodeContents(k.at("candidate"), frame)});
  t.launches_per_sample = j.at("launches");
  t.empty_us = j.at("empty_us");
  t.hot_original_us = j.at("hot_original_us");
  t.hot_candidate_us = j.at("hot_candidate_us");
  t.guards = j.at("guards").get<std::vector<GuardViolation>>();
  t.seconds = j.at("seconds").get<std::map<std::string, double>>();
  return t;
}

// What Execute and Time have in common: outcomes beside their own.
template <typename Outcome>
json EncodeFailure(const Outcome& outcome) {
  if (const auto* v = std::get_if<CompileFailed>(&outcome)) return {{"compile_failed", v->log}};
  if (const auto* v = std::get_if<Refused>(&outcome)) return {{"refused", *v}};
  const auto& v = std::get<Faulted>(outcome);
  return {{"faulted", {{"fault", v.fault}, {"case", v.case_name}}}};
}
template <typename Outcome>
std::optional<Outcome> DecodeFailure(const json& body) {
  if (body.contains("compile_failed")) return CompileFailed{body.at("compile_failed")};
  if (body.contains("refused")) return body.at("refused").get<Refused>();
  if (body.contains("faulted")) return Faulted{body.at("faulted").at("fault").get<Fault>(), body.at("faulted").at("case")};
  return std::nullopt;
}

// The body of an answer, or the worker's own error.
Result<json> Body(const Frame& frame) {
  if (frame.kind != FrameKind::kMessage) return Fail(ErrorCode::kCorrupt, "a frame that is no answer");
  auto body = Guarded([&]() -> std::variant<json, Error> {
    json header = ParseHeader(frame.header);
    if (header.contains("error")) return header.at("error").get<Error>();
    return header.at("ok");
  });
  if (!body) return Fail(body.error());
  if (auto* error = std::get_if<Error>(&*body)) return Fail(*error);
  return std::get<json>(std::move(*body));
}

FrameView Message(FrameView frame, const json& header) {
  frame.header = Dump(header);
  return frame;
}

}  // namespace

FrameView EncodeInspect(const SourceRef& source) {
  FrameView frame;
  const json header = {{"verb", "inspect"}, {"source", EncodeSource(source, frame)}};
  return Message(std::move(frame), header);
}
FrameView EncodeCall(const RewriteRequest& r) {
  FrameView frame;
  const json header = {{"verb", "rewrite"}, {"source", EncodeSource(r.source, frame)}, {"entry", r.entry}, {"kernel", r.kernel},
                       {"transform", r.transform}, {"parameters", r.parameters}};
  return Message(std::move(frame), header);
}
FrameView EncodeCall(const SpliceRequest& r) {
  FrameView frame;
  const json header = {{"verb", "splice"}, {"source", EncodeSource(r.original, frame)}, {"edited", frame.Attach(r.edited)}, {"entry", r.entry}};
  return Message(std::move(frame), header);
}
FrameView EncodeCall(const ExecuteRequest& r) {
  FrameView frame;
  const json header = {{"verb", "execute"}, {"source", EncodeSource(r.source, frame)}, {"spec", r.spec}, {"case", r.case_name},
                       {"scalars", ScalarsToJson(r.scalars)}, {"buffers", EncodeBuffers(r.buffers, frame)}, {"device", r.device},
                       {"options", r.options}};
  return Message(std::move(frame), header);
}

FrameView EncodeCall(const TimeRequest& r) {
  FrameView frame;
  const json header = {{"verb", "time"}, {"source", EncodeSource(r.original, frame)}, {"candidate", EncodeSource(r.candidate, frame)},
                       {"spec", r.spec}, {"case", r.case_name}, {"scalars", ScalarsToJson(r.scalars)},
                       {"buffers", EncodeBuffers(r.buffers, frame)}, {"device", r.device}, {"options", r.options}};
  return Message(std::move(frame), header);
}

Result<Call> DecodeCall(Frame frame) {
  return Guarded([&]() -> Call {
    const json header = ParseHeader(frame.header);
    const std::string verb = header.at("verb");
    SourceRef source = DecodeSource(header.at("source"), frame);
    if (verb == "inspect") return InspectCall{std::move(source)};
    if (verb == "rewrite")
      return RewriteRequest{std::move(source), header.at("entry"), header.at("kernel"), header.at("transform"),
                            header.at("parameters").get<std::map<std::string, std::string>>()};
    if (verb == "splice") return SpliceRequest{std::move(source), TakeText(frame, header.at("edited")), header.at("entry")};
    const auto fill = [&](auto r) {
      r.spec = header.at("spec").get<KernelSpec>();
      r.case_name = header.at("case");
      r.scalars = ScalarsFromJson(header.at("scalars"));
      r.buffers = DecodeBuffers(header.at("buffers"), frame);
      r.device = header.at("device");
      r.options = header.at("options").get<decltype(r.options)>();
      return r;
    };
    if (verb == "execute") {
      ExecuteRequest r;
      r.source = std::move(source);
      return fill(std::move(r));
    }
    if (verb != "time") throw DecodeError("unknown verb");
    TimeRequest r;
    r.original = std::move(source);
    r.candidate = DecodeSource(header.at("candidate"), frame);
    return fill(std::move(r));
  });
}

FrameView EncodeError(const Error& error) { return Message({}, {{"error", error}}); }
FrameView EncodeAnswer(const Inspection& answer) { return Message({}, {{"ok", answer}}); }
FrameView EncodeAnswer(const RewriteOutcome& answer) {
  FrameView frame;
  const json body =
      std::visit(Overload{[&](const Rewritten& r) { return json{{"rewritten", EncodeRewritten(r, frame)}}; },
                          [](const RewriteRefusal& r) { return json{{"refusal", {{"reason", r.reason}, {"line", r.line}}}}; }},
                 answer);
  return Message(std::move(frame), {{"ok", body}});
}
FrameView EncodeAnswer(const SpliceOutcome& answer) {
  FrameView frame;
  const json body = std::visit(Overload{[&](const Rewritten& r) { return json{{"rewritten", EncodeRewritten(r, frame)}}; },
                                        [](const Refused& r) { return json{{"refused", r}}; }},
                               answer);
  return Message(std::move(frame), {{"ok", body}});
}
FrameView EncodeAnswer(const ExecuteOutcome& answer) {
  FrameView frame;
  const auto* run = std::get_if<Executed>(&answer);
  const json body = run != nullptr ? json{{"executed", EncodeExecuted(*run, frame)}} : EncodeFailure(answer);
  return Message(std::move(frame), {{"ok", body}});
}
FrameView EncodeAnswer(const TimeOutcome& answer) {
  FrameView frame;
  const auto* run = std::get_if<Timed>(&answer);
  const json body = run != nullptr ? json{{"timed", EncodeTimed(*run, frame)}} : EncodeFailure(answer);
  return Message(std::move(frame), {{"ok", body}});
}

Result<Inspection> DecodeInspection(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&] { return body.get<Inspection>(); });
}
Result<RewriteOutcome> DecodeRewrite(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> RewriteOutcome {
    if (body.contains("refusal")) return RewriteRefusal{body.at("refusal").at("reason"), body.at("refusal").at("line")};
    return DecodeRewritten(body.at("rewritten"), frame);
  });
}
Result<SpliceOutcome> DecodeSplice(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> SpliceOutcome {
    if (body.contains("refused")) return body.at("refused").get<Refused>();
    return DecodeRewritten(body.at("rewritten"), frame);
  });
}
Result<ExecuteOutcome> DecodeExecute(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> ExecuteOutcome {
    if (auto failure = DecodeFailure<ExecuteOutcome>(body)) return std::move(*failure);
    return DecodeExecuted(body.at("executed"), frame);
  });
}
Result<TimeOutcome> DecodeTime(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> TimeOutcome {
    if (auto failure = DecodeFailure<TimeOutcome>(body)) return std::move(*failure);
    return DecodeTimed(body.at("timed"), frame);
  });
}

}  // namespace warpwright
