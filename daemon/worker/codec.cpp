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

std::vector<std::byte> TakeAttachment(Frame& frame, const json& index) {
  const auto at = index.get<size_t>();
  if (at >= frame.attachments.size()) throw DecodeError("an attachment that is not there");
  return std::move(frame.attachments[at]);
}

json EncodeBuffers(const std::vector<BufferContent>& buffers, Frame& frame) {
  json list = json::array();
  for (const auto& b : buffers) {
    list.push_back({{"name", b.name}, {"bytes", frame.attachments.size()}, {"uninitialized", b.uninitialized}, {"read_only", b.read_only}, {"offset", b.pointer_offset}});
    frame.attachments.push_back(b.bytes);
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

json EncodeRewritten(const Rewritten& r) { return {{"text", r.text}, {"notes", r.notes}}; }
Rewritten DecodeRewritten(const json& j) { return {j.at("text"), j.at("notes").get<std::vector<std::string>>()}; }

json EncodeExecuted(Executed& e, Frame& frame) {
  json buffers = json::array(), guards = json::array();
  for (auto& bytes : e.buffers) {
    buffers.push_back(frame.attachments.size());
    frame.attachments.push_back(std::move(bytes));
  }
  for (const auto& g : e.guards) guards.push_back({{"buffer", g.buffer}, {"offset", g.offset}, {"bytes", g.bytes}});
  return {{"buffers", buffers}, {"launches", e.launches}, {"time_us", e.time_us}, {"modelled", e.modelled}, {"sampled", e.sampled}, {"guards", guards},
          {"plan", e.plan_digest}, {"module", e.module_key}, {"seconds", e.seconds}};
}
Executed DecodeExecuted(const json& j, Frame& frame) {
  Executed e;
  for (const auto& index : j.at("buffers")) e.buffers.push_back(TakeAttachment(frame, index));
  e.launches = j.at("launches").get<std::vector<LaunchReport>>();
  e.time_us = j.at("time_us");
  e.modelled = j.at("modelled");
  e.sampled = j.at("sampled");
  for (const auto& g : j.at("guards")) e.guards.push_back({g.at("buffer"), g.at("offset"), g.at("bytes")});
  e.plan_digest = j.at("plan");
  e.module_key = j.at("module");
  e.seconds = j.at("seconds").get<std::map<std::string, double>>();
  return e;
}

// The body of an answer, or the worker's own error.
Result<json> Body(const Frame& frame) {
  auto body = Guarded([&]() -> std::variant<json, Error> {
    json header = ParseHeader(frame.header);
    if (header.contains("error")) return header.at("error").get<Error>();
    return header.at("ok");
  });
  if (!body) return Fail(body.error());
  if (auto* error = std::get_if<Error>(&*body)) return Fail(*error);
  return std::get<json>(std::move(*body));
}

Frame Answer(json body) { return {Dump({{"ok", std::move(body)}}), {}}; }

}  // namespace

Frame EncodeCall(const Call& call) {
  Frame frame;
  json header = std::visit(
      Overload{[](const InspectCall& c) { return json{{"verb", "inspect"}, {"source", c.source}}; },
               [](const RewriteRequest& r) {
                 return json{{"verb", "rewrite"}, {"source", r.source}, {"entry", r.entry}, {"kernel", r.kernel}, {"transform", r.transform}, {"parameters", r.parameters}};
               },
               [](const SpliceRequest& r) { return json{{"verb", "splice"}, {"source", r.original}, {"edited", r.edited}, {"entry", r.entry}}; },
               [&](const ExecuteRequest& r) {
                 return json{{"verb", "execute"}, {"source", r.source}, {"spec", r.spec}, {"case", r.case_name}, {"scalars", ScalarsToJson(r.scalars)},
                             {"buffers", EncodeBuffers(r.buffers, frame)}, {"device", r.device}, {"options", r.options}};
               }},
      call);
  frame.header = Dump(header);
  return frame;
}

Result<Call> DecodeCall(Frame frame) {
  return Guarded([&]() -> Call {
    const json header = ParseHeader(frame.header);
    const std::string verb = header.at("verb");
    const auto source = header.at("source").get<SourceRef>();
    if (verb == "inspect") return InspectCall{source};
    if (verb == "rewrite")
      return RewriteRequest{source, header.at("entry"), header.at("kernel"), header.at("transform"), header.at("parameters").get<std::map<std::string, std::string>>()};
    if (verb == "splice") return SpliceRequest{source, header.at("edited"), header.at("entry")};
    if (verb != "execute") throw DecodeError("unknown verb");
    ExecuteRequest r;
    r.source = source;
    r.spec = header.at("spec").get<KernelSpec>();
    r.case_name = header.at("case");
    r.scalars = ScalarsFromJson(header.at("scalars"));
    r.buffers = DecodeBuffers(header.at("buffers"), frame);
    r.device = header.at("device");
    r.options = header.at("options").get<ExecuteOptions>();
    return r;
  });
}

Frame EncodeError(const Error& error) { return {Dump({{"error", error}}), {}}; }
Frame EncodeAnswer(const Inspection& answer) { return Answer(answer); }
Frame EncodeAnswer(const RewriteOutcome& answer) {
  return Answer(std::visit(Overload{[](const Rewritten& r) { return json{{"rewritten", EncodeRewritten(r)}}; },
                                    [](const RewriteRefusal& r) { return json{{"refusal", {{"reason", r.reason}, {"line", r.line}}}}; }},
                           answer));
}
Frame EncodeAnswer(const SpliceOutcome& answer) {
  return Answer(std::visit(Overload{[](const Rewritten& r) { return json{{"rewritten", EncodeRewritten(r)}}; },
                                    [](const Refused& r) { return json{{"refused", r}}; }},
                           answer));
}
Frame EncodeAnswer(ExecuteOutcome answer) {
  Frame frame;
  json body = std::visit(Overload{[](const CompileFailed& v) { return json{{"compile_failed", v.log}}; }, [](const Refused& v) { return json{{"refused", v}}; },
                                  [](const Faulted& v) { return json{{"faulted", {{"fault", v.fault}, {"case", v.case_name}}}}; },
                                  [&](Executed& v) { return json{{"executed", EncodeExecuted(v, frame)}}; }},
                         answer);
  frame.header = Dump({{"ok", std::move(body)}});
  return frame;
}

Result<Inspection> DecodeInspection(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&] { return body.get<Inspection>(); });
}
Result<RewriteOutcome> DecodeRewrite(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> RewriteOutcome {
    if (body.contains("refusal")) return RewriteRefusal{body.at("refusal").at("reason"), body.at("refusal").at("line")};
    return DecodeRewritten(body.at("rewritten"));
  });
}
Result<SpliceOutcome> DecodeSplice(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> SpliceOutcome {
    if (body.contains("refused")) return body.at("refused").get<Refused>();
    return DecodeRewritten(body.at("rewritten"));
  });
}
Result<ExecuteOutcome> DecodeExecute(Frame frame) {
  WW_ASSIGN(const json body, Body(frame));
  return Guarded([&]() -> ExecuteOutcome {
    if (body.contains("compile_failed")) return CompileFailed{body.at("compile_failed")};
    if (body.contains("refused")) return body.at("refused").get<Refused>();
    if (body.contains("faulted")) return Faulted{body.at("faulted").at("fault").get<Fault>(), body.at("faulted").at("case")};
    return DecodeExecuted(body.at("executed"), frame);
  });
}

}  // namespace warpwright
