#include "memory/verdict_json.h"

#include <algorithm>

#include "memory/json_reader.h"

namespace warpwright {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxLines = 64;

constexpr Fault::Kind kFaultKinds[] = {Fault::Kind::kOutOfBounds,       Fault::Kind::kMisaligned,
                                       Fault::Kind::kUninitializedRead, Fault::Kind::kSharedRace,
                                       Fault::Kind::kDivergentBarrier,  Fault::Kind::kInactiveShuffle,
                                       Fault::Kind::kInstructionLimit,  Fault::Kind::kTrap,
                                       Fault::Kind::kNotSimulated,      Fault::Kind::kReadOnlyWrite,
                                       Fault::Kind::kResourceLimit,     Fault::Kind::kIllegalInstruction};

struct TimeField {
  const char* name;
  double TimeBreakdown::*member;
};
constexpr TimeField kTimeFields[] = {
    {"total_us", &TimeBreakdown::total_us},   {"dram_us", &TimeBreakdown::dram_us},
    {"l2_us", &TimeBreakdown::l2_us},         {"l1_us", &TimeBreakdown::l1_us},
    {"shared_us", &TimeBreakdown::shared_us}, {"issue_us", &TimeBreakdown::issue_us},
    {"fp32_us", &TimeBreakdown::fp32_us},     {"fp64_us", &TimeBreakdown::fp64_us},
    {"fp16_us", &TimeBreakdown::fp16_us},     {"integer_us", &TimeBreakdown::integer_us},
    {"sfu_us", &TimeBreakdown::sfu_us},       {"latency_us", &TimeBreakdown::latency_us},
    {"atomic_us", &TimeBreakdown::atomic_us}, {"overhead_us", &TimeBreakdown::overhead_us}};

Json FaultToJson(const Fault& f) {
  return {{"kind", Name(f.kind)}, {"message", f.message}, {"kernel", f.kernel}, {"file", f.file},
          {"line", f.line},       {"block", f.block},     {"thread", f.thread}};
}
void ReadTriple(JsonReader& reader, const Json& json, const char* key, uint32_t (&out)[3]) {
  const Json& items = reader.Items(json, key);
  if (items.size() != 3) return reader.Complain("a coordinate needs three numbers");
  for (size_t i = 0; i < 3; ++i) {
    if (!items[i].is_number_unsigned() || items[i].get<uint64_t>() > UINT32_MAX)
      return reader.Complain("a coordinate is no number");
    out[i] = items[i].get<uint32_t>();
  }
}
Fault FaultFromJson(JsonReader& reader, const Json& json) {
  Fault f;
  const std::string kind = reader.Text(json, "kind");
  const auto found =
      std::find_if(std::begin(kFaultKinds), std::end(kFaultKinds), [&](Fault::Kind k) { return Name(k) == kind; });
  if (found == std::end(kFaultKinds)) {
    reader.Complain("unknown fault '" + kind.substr(0, 40) + "'");
  } else {
    f.kind = *found;
  }
  f.message = reader.Text(json, "message");
  f.kernel = reader.Text(json, "kernel");
  f.file = reader.Text(json, "file");
  f.line = reader.Integer<int>(json, "line");
  ReadTriple(reader, json, "block", f.block);
  ReadTriple(reader, json, "thread", f.thread);
  return f;
}

Json LineToJson(const LineCounters& l) {
  Json json = {{"file", l.file},
               {"line", l.line},
               {"n",
                {l.warp_instructions, l.thread_instructions, l.global_requests, l.global_sectors, l.shared_requests,
                 l.shared_wavefronts, l.divergent_branches}}};
  if (l.samples > 0) {
    json["samples"] = l.samples;
    json["stalls"] = l.stalls;
  }
  return json;
}

LineCounters LineFromJson(JsonReader& reader, const Json& json) {
  LineCounters l;
  l.file = reader.Text(json, "file");
  l.line = reader.Integer<int>(json, "line");
  uint64_t* const numbers[] = {&l.warp_instructions, &l.thread_instructions, &l.global_requests,   &l.global_sectors,
                               &l.shared_requests,   &l.shared_wavefronts,   &l.divergent_branches};
  const Json& items = reader.Items(json, "n");
  if (items.size() != std::size(numbers)) return reader.Complain("counters of a line are incomplete"), l;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_number_unsigned()) return reader.Complain("a counter is no number"), l;
    *numbers[i] = items[i].get<uint64_t>();
  }
  l.samples = reader.Integer<uint64_t>(json, "samples");
  for (const auto& [reason, samples] : reader.NumberMap(json, "stalls"))
    if (samples >= 0 && samples < 1e18) l.stalls[reason] = static_cast<uint64_t>(samples);
  return l;
}

Json LaunchToJson(const LaunchReport& r) {
  Json counters = Json::object(), lines = Json::array(), time = Json::object();
  for (const NamedCounter& counter : Fields(r.counters))
    if (counter.value != 0) counters[std::string(counter.name)] = counter.value;
  for (size_t i = 0; i < std::min(kMaxLines, r.lines.size()); ++i) lines.push_back(LineToJson(r.lines[i]));
  for (const TimeField& field : kTimeFields) time[field.name] = NumberToJson(r.time.*field.member);
  time["limiter"] = r.time.limiter;
  const Occupancy& o = r.occupancy;
  Json metrics = Json::object();
  for (const auto& [name, value] : r.metrics) metrics[name] = NumberToJson(value);
  return {{"kernel", r.kernel},
          {"registers", r.registers},
          {"threads_per_block", r.threads_per_block},
          {"shared_bytes_per_block", r.shared_bytes_per_block},
          {"blocks_total", r.blocks_total},
          {"blocks_run", r.blocks_run},
          {"counters", std::move(counters)},
          {"lines", std::move(lines)},
          {"occupancy",
           {{"blocks", o.blocks_per_multiprocessor},
            {"theoretical", NumberToJson(o.theoretical)},
            {"achieved", NumberToJson(o.achieved)},
            {"limiter", o.limiter},
            {"waves", NumberToJson(o.waves)}}},
          {"time", std::move(time)},
          {"metrics", std::move(metrics)},
          {"unmeasured", r.unmeasured}};
}
LaunchReport LaunchFromJson(JsonReader& reader, const Json& json) {
  LaunchReport r;
  r.kernel = reader.Text(json, "kernel");
  r.registers = reader.Integer<int>(json, "registers");
  r.threads_per_block = reader.Integer<int>(json, "threads_per_block");
  r.shared_bytes_per_block = reader.Integer<uint32_t>(json, "shared_bytes_per_block");
  r.blocks_total = reader.Integer<uint64_t>(json, "blocks_total");
  r.blocks_run = reader.Integer<uint64_t>(json, "blocks_run");
  if (const Json* counters = reader.Get(json, "counters")) {
    if (!counters->is_object()) reader.Complain("'counters' is not an object");
    for (const auto& [name, value] : counters->items())
      if (!value.is_number_unsigned() || !SetField(r.counters, name, value.get<uint64_t>()))
        reader.Complain("unknown counter '" + name.substr(0, 40) + "'");
  }
  for (const Json& line : reader.Items(json, "lines")) r.lines.push_back(LineFromJson(reader, line));
  if (const Json* o = reader.Get(json, "occupancy")) {
    r.occupancy.blocks_per_multiprocessor = reader.Integer<int>(*o, "blocks");
    r.occupancy.theoretical = reader.Number(*o, "theoretical");
    r.occupancy.achieved = reader.Number(*o, "achieved");
    r.occupancy.limiter = reader.Text(*o, "limiter");
    r.occupancy.waves = reader.Number(*o, "waves");
  }
  if (const Json* time = reader.Get(json, "time")) {
    for (const TimeField& field : kTimeFields) r.time.*field.member = reader.Number(*time, field.name);
    r.time.limiter = reader.Text(*time, "limiter");
  }
  r.metrics = reader.NumberMap(json, "metrics");
  for (auto& name : reader.Texts(json, "unmeasured")) r.unmeasured.insert(std::move(name));
  return r;
}

constexpr TimingDecision kDecisions[] = {TimingDecision::kFaster, TimingDecision::kSame, TimingDecision::kSlower,
                                         TimingDecision::kInconclusive};
TimingDecision DecisionFromJson(JsonReader& reader, const Json& json) {
  const std::string name = reader.Text(json, "decision");
  for (const TimingDecision decision : kDecisions)
    if (Name(decision) == name) return decision;
  reader.Complain("unknown decision '" + name.substr(0, 40) + "'");
  return TimingDecision::kInconclusive;
}

struct TimingField {
  const char* name;
  double TimingSummary::*member;
};
constexpr TimingField kTimingFields[] = {{"log_ratio", &TimingSummary::log_ratio},
                                         {"standard_error", &TimingSummary::standard_error},
                                         {"lower", &TimingSummary::lower},
                                         {"upper", &TimingSummary::upper},
                                         {"decision_lower", &TimingSummary::decision_lower},
                                         {"decision_upper", &TimingSummary::decision_upper},
                                         {"original_us", &TimingSummary::original_us},
                                         {"candidate_us", &TimingSummary::candidate_us},
                                         {"hot_original_us", &TimingSummary::hot_original_us},
                                         {"hot_candidate_us", &TimingSummary::hot_candidate_us}};

Json TimingToJson(const TimingSummary& t) {
  Json json = {
      {"decision", Name(t.decision)}, {"pairs", t.pairs}, {"discarded", t.discarded}, {"blocks", t.blocks}};
  for (const TimingField& field : kTimingFields) json[field.name] = NumberToJson(t.*field.member);
  return json;
}
TimingSummary TimingFromJson(JsonReader& reader, const Json& json) {
  TimingSummary t;
  t.decision = DecisionFromJson(reader, json);
  for (const TimingField& field : kTimingFields) t.*field.member = reader.Number(json, field.name);
  t.pairs = reader.Integer<int>(json, "pairs");
  t.discarded = reader.Integer<int>(json, "discarded");
  t.blocks = reader.Integer<int>(json, "blocks");
  return t;
}

Json MeasuredToJson(const Measured& m) {
  Json cases = Json::array();
  for (const CaseMeasurement& c : m.cases) {
    Json launches = Json::array();
    for (const LaunchReport& launch : c.launches) launches.push_back(LaunchToJson(launch));
    cases.push_back({{"case", c.case_name},
                     {"weight", NumberToJson(c.weight)},
                     {"time_us", NumberToJson(c.time_us)},
                     {"sampled", c.sampled},
                     {"launches", std::move(launches)}});
    if (c.timing) cases.back()["timing"] = TimingToJson(*c.timing);
  }
  Json json = {{"modelled", m.modelled}, {"device", m.device}, {"checks", m.checks}, {"cases", std::move(cases)}};
  if (m.decision) json["decision"] = Name(*m.decision);
  if (!m.notes.empty()) json["notes"] = m.notes;
  return json;
}
Measured MeasuredFromJson(JsonReader& reader, const Json& json) {
  Measured m;
  m.modelled = reader.Bool(json, "modelled");
  m.device = reader.Text(json, "device");
  m.checks = reader.Texts(json, "checks");
  m.notes = reader.Texts(json, "notes");
  if (reader.Get(json, "decision") != nullptr) m.decision = DecisionFromJson(reader, json);
  for (const Json& item : reader.Items(json, "cases")) {
    CaseMeasurement c;
    c.case_name = reader.Text(item, "case");
    c.weight = reader.Number(item, "weight");
    c.time_us = reader.Number(item, "time_us");
    c.sampled = reader.Bool(item, "sampled");
    for (const Json& launch : reader.Items(item, "launches")) c.launches.push_back(LaunchFromJson(reader, launch));
    if (const Json* timing = reader.Get(item, "timing")) c.timing = TimingFromJson(reader, *timing);
    m.cases.push_back(std::move(c));
  }
  return m;
}

Verdict VerdictFromJson(JsonReader& reader, const Json& json) {
  const std::string name = reader.Text(json, "verdict");
  if (name == VerdictName(CompileFailed{})) return CompileFailed{reader.Text(json, "log")};
  if (name == VerdictName(Refused{}))
    return Refused{reader.Text(json, "check"), reader.Text(json, "reason"), reader.Text(json, "file"),
                   reader.Integer<int>(json, "line")};
  if (name == VerdictName(WrongResult{}))
    return WrongResult{reader.Text(json, "check"), reader.Text(json, "case"), reader.Text(json, "message")};
  if (name == VerdictName(Faulted{})) {
    const Json* fault = reader.Get(json, "fault");
    if (fault == nullptr) return reader.Complain("'fault' is missing"), Faulted{};
    return Faulted{FaultFromJson(reader, *fault), reader.Text(json, "case")};
  }
  if (name == VerdictName(Measured{})) return MeasuredFromJson(reader, json);
  reader.Complain("unknown verdict '" + name.substr(0, 40) + "'");
  return CompileFailed{};
}

}  // namespace

std::string EncodeVerdict(const Verdict& verdict) {
  Json json =
      std::visit(Overload{[](const CompileFailed& v) {
                            return Json{{"log", v.log}};
                          },
                          [](const Refused& v) {
                            return Json{{"check", v.check}, {"reason", v.reason}, {"file", v.file}, {"line", v.line}};
                          },
                          [](const WrongResult& v) {
                            return Json{{"check", v.check}, {"case", v.case_name}, {"message", v.message}};
                          },
                          [](const Faulted& v) {
                            return Json{{"fault", FaultToJson(v.fault)}, {"case", v.case_name}};
                          },
                          [](const Measured& v) { return MeasuredToJson(v); }},
                 verdict);
  json["verdict"] = VerdictName(verdict);
  return DumpJson(json);
}

Result<Verdict> DecodeVerdict(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Fail(ErrorCode::kCorrupt, "the verdict is not JSON");
  try {
    JsonReader reader;
    Verdict verdict = VerdictFromJson(reader, json);
    WW_TRY(reader.status());
    return verdict;
  } catch (const std::exception& exception) {
    return Fail(ErrorCode::kCorrupt, exception.what());
  }
}

}  // namespace warpwright
