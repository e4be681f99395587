#include "memory/step_json.h"

#include "base/hash.h"
#include "memory/json_reader.h"
#include "memory/verdict_json.h"

namespace warpwright {
namespace {

using Json = nlohmann::json;

Json NumbersToJson(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) json[name] = NumberToJson(value);
  return json;
}

// Parses, reads with `read`, and turns every mistake into an Error.
template <typename Read>
auto Decode(std::string_view text, const char* what, Read read)
    -> Result<decltype(read(std::declval<JsonReader&>(), Json()))> {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Fail(ErrorCode::kCorrupt, fmt::format("{} of the trajectory is not JSON", what));
  try {
    JsonReader reader;
    auto value = read(reader, json);
    if (!reader.error().empty())
      return Fail(ErrorCode::kCorrupt, fmt::format("{} of the trajectory: {}", what, reader.error()));
    return value;
  } catch (const std::exception& exception) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{} of the trajectory: {}", what, exception.what()));
  }
}

}  // namespace

std::string EncodeStep(const StepRecord& r) {
  Json prediction = Json::array();
  for (const ExpectedChange& p : r.prediction)
    prediction.push_back({{"name", p.name}, {"up", p.up}, {"factor", NumberToJson(p.factor)}});
  return DumpJson({{"kind", Name(r.kind)},
                   {"round", r.round},
                   {"attempt", r.attempt},
                   {"base", r.base},
                   {"candidate", r.candidate},
                   {"method", r.method},
                   {"parameters", r.parameters},
                   {"evidence_digest", r.evidence_digest},
                   {"reason", r.reason},
                   {"evidence", r.evidence},
                   {"prediction", std::move(prediction)},
                   {"repairs", r.repairs}});
}

Result<StepRecord> DecodeStep(std::string_view text) {
  return Decode(text, "a step", [](JsonReader& reader, const Json& json) {
    StepRecord r;
    const std::string kind = reader.Text(json, "kind");
    if (const auto parsed = ParseStepKind(kind)) {
      r.kind = *parsed;
    } else {
      reader.Complain("unknown kind '" + kind.substr(0, 40) + "'");
    }
    r.round = reader.Integer<int>(json, "round");
    r.attempt = reader.Integer<int>(json, "attempt");
    r.base = reader.Text(json, "base");
    r.candidate = reader.Text(json, "candidate");
    r.method = reader.Text(json, "method");
    r.parameters = reader.TextMap(json, "parameters");
    r.evidence_digest = reader.Text(json, "evidence_digest");
    r.reason = reader.Text(json, "reason");
    r.evidence = reader.Texts(json, "evidence");
    for (const Json& item : reader.Items(json, "prediction"))
      r.prediction.push_back({reader.Text(item, "name"), reader.Bool(item, "up"), reader.Number(item, "factor")});
    r.repairs = reader.Integer<int64_t>(json, "repairs");
    return r;
  });
}

std::string EncodeOutcome(const StepOutcome& o) {
  Json prediction = Json::array();
  for (const PredictionResult& p : o.prediction)
    prediction.push_back({{"name", p.name},
                          {"up", p.up},
                          {"factor", NumberToJson(p.factor)},
                          {"before", NumberToJson(p.before)},
                          {"after", NumberToJson(p.after)},
                          {"held", p.held}});
  Json json = {{"candidate", o.candidate},
               {"summary", o.summary},
               {"data", o.data},
               {"prediction", std::move(prediction)},
               {"before", NumbersToJson(o.before)},
               {"after", NumbersToJson(o.after)},
               {"time_before_us", NumberToJson(o.time_before_us)},
               {"time_after_us", NumberToJson(o.time_after_us)},
               {"gain", NumberToJson(o.gain)},
               {"accepted", o.accepted},
               {"seconds", NumberToJson(o.seconds)}};
  if (o.verdict) json["verdict"] = EncodeVerdict(*o.verdict);
  return DumpJson(json);
}

Result<StepOutcome> DecodeOutcome(std::string_view text) {
  return Decode(text, "an outcome", [](JsonReader& reader, const Json& json) {
    StepOutcome o;
    o.candidate = reader.Text(json, "candidate");
    o.summary = reader.Text(json, "summary");
    o.data = reader.Text(json, "data");
    if (reader.Get(json, "verdict") != nullptr) {
      auto verdict = DecodeVerdict(reader.Text(json, "verdict"));
      if (verdict) {
        o.verdict = std::move(*verdict);
      } else {
        reader.Complain(verdict.error().message);
      }
    }
    for (const Json& item : reader.Items(json, "prediction"))
      o.prediction.push_back({reader.Text(item, "name"), reader.Bool(item, "up"), reader.Number(item, "factor"),
                              reader.Number(item, "before"), reader.Number(item, "after"), reader.Bool(item, "held")});
    o.before = reader.NumberMap(json, "before");
    o.after = reader.NumberMap(json, "after");
    o.time_before_us = reader.Number(json, "time_before_us");
    o.time_after_us = reader.Number(json, "time_after_us");
    o.gain = reader.Number(json, "gain");
    o.accepted = reader.Bool(json, "accepted");
    o.seconds = reader.Number(json, "seconds");
    return o;
  });
}

std::string EncodeResult(const TaskResult& r) {
  return DumpJson(
      {{"outcome", r.outcome}, {"message", r.message}, {"best_hash", r.best_hash}, {"gain", NumberToJson(r.gain)}});
}
Result<TaskResult> DecodeResult(std::string_view text) {
  return Decode(text, "a result", [](JsonReader& reader, const Json& json) {
    return TaskResult{reader.Text(json, "outcome"), reader.Text(json, "message"), reader.Text(json, "best_hash"),
                      reader.Number(json, "gain")};
  });
}

std::string EncodeParameters(const std::map<std::string, std::string>& parameters) {
  return DumpJson({{"p", parameters}});
}
Result<std::map<std::string, std::string>> DecodeParameters(std::string_view text) {
  return Decode(text, "parameters", [](JsonReader& reader, const Json& json) { return reader.TextMap(json, "p"); });
}

std::string StepIdentity(const StepRecord& r) {
  Hasher hasher;
  hasher.Add(Name(r.kind)).Add(std::to_string(r.round)).Add(std::to_string(r.attempt));
  hasher.Add(r.base).Add(r.candidate).Add(r.method).Add(EncodeParameters(r.parameters)).Add(r.evidence_digest);
  return hasher.Finish();
}

}  // namespace warpwright
