#include "nights/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "memory/json_reader.h"

namespace warpwright {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr size_t kMaxLineBytes = 8 << 10, kMaxText = 600, kMaxWarnings = 100;
constexpr double kMostUs = 1e12, kMostLog = 30;
constexpr int kSlack = 32;  // nights beyond kNightsKept before a file is rewritten

// One description of each kind's fields serves writing, reading and checking.
struct Writer {
  Json json = {{"v", kFormat}};
  void Text(const char* name, const std::string& value, bool) { if (!value.empty()) json[name] = value; }
  void Flag(const char* name, const bool& value) { if (value) json[name] = true; }
  void Number(const char* name, const double& value, double, double) { json[name] = value; }
  void Count(const char* name, const int& value) { json[name] = value; }
};

struct Reader {
  const Json& json;
  JsonReader reader;
  void Text(const char* name, std::string& value, bool required) {
    value = reader.Text(json, name);
    Check(name, value, required);
  }
  void Check(const char* name, const std::string& value, bool required) {
    if (required && value.empty()) reader.Complain(fmt::format("'{}' is missing", name));
    if (value.size() > kMaxText) reader.Complain(fmt::format("'{}' has more than {} bytes", name, kMaxText));
  }
  void Flag(const char* name, bool& value) { value = reader.Bool(json, name); }
  void Number(const char* name, double& value, double low, double high) {
    value = reader.Number(json, name);
    if (!(value >= low && value <= high)) reader.Complain(fmt::format("'{}' is not within {:g} to {:g}", name, low, high));
  }
  void Count(const char* name, int& value) {
    value = reader.Integer<int>(json, name);
    if (value < 0) reader.Complain(fmt::format("'{}' is negative", name));
  }
};

template <typename Visitor, typename Key>
void VisitKey(Visitor& v, Key& key) {
  v.Text("device", key.device, true);
  v.Text("chip", key.chip, false);
  v.Text("driver", key.driver, false);
  v.Text("toolkit", key.toolkit, false);
  v.Text("protocol", key.protocol, true);
}
template <typename Visitor, typename Line>
void VisitRatio(Visitor& v, Line& line) {
  v.Number("log_ratio", line.log_ratio, -kMostLog, kMostLog);
  v.Number("lower", line.lower, -kMostLog, kMostLog);
  v.Number("upper", line.upper, -kMostLog, kMostLog);
}
template <typename Visitor, typename Line>
void VisitCase(Visitor& v, Line& line) {
  v.Text("time", line.time, true);
  v.Text("kernel", line.kernel, true);
  VisitKey(v, line.key);
  v.Text("commit", line.commit, true);
  v.Text("slice", line.slice, true);
  v.Flag("reference", line.reference);
  v.Flag("modelled", line.modelled);
  v.Text("case", line.case_name, true);
  v.Number("weight", line.weight, 0, 1e9);
  v.Number("median_us", line.median_us, 0, kMostUs);
  v.Number("log_mean", line.log_mean, -kMostLog, kMostLog);
  v.Number("log_error", line.log_error, 0, kMostLog);
  v.Count("samples", line.samples);
  v.Count("discarded", line.discarded);
  v.Number("mhz", line.mhz, 0, 1e6);
}
template <typename Visitor, typename Line>
void VisitNight(Visitor& v, Line& line) {
  v.Text("time", line.time, true);
  v.Text("kernel", line.kernel, true);
  VisitKey(v, line.key);
  v.Text("commit", line.commit, true);
  v.Text("slice", line.slice, false);
  v.Text("state", line.state, true);
  v.Text("message", line.message, false);
  v.Text("anchor_commit", line.anchor_commit, false);
  v.Text("anchor_slice", line.anchor_slice, false);
  VisitRatio(v, line);
  v.Flag("epoch", line.epoch);
  v.Text("finding", line.finding, false);
}
template <typename Visitor, typename Line>
void VisitFinding(Visitor& v, Line& line) {
  v.Text("time", line.time, true);
  v.Text("kernel", line.kernel, true);
  v.Text("id", line.id, true);
  VisitKey(v, line.key);
  v.Text("state", line.state, true);
  v.Text("cause", line.cause, true);
  v.Text("commit", line.commit, false);
  v.Text("subject", line.subject, false);
  v.Text("from", line.from, false);
  v.Text("to", line.to, false);
  v.Text("slice", line.slice, false);
  v.Text("anchor_slice", line.anchor_slice, false);
  v.Text("case", line.case_name, false);
  VisitRatio(v, line);
  v.Flag("confirmed", line.confirmed);
  v.Flag("modelled", line.modelled);
  v.Text("message", line.message, false);
}

const std::string& TimeOf(const HistoryLine& line) {
  return std::visit([](const auto& l) -> const std::string& { return l.time; }, line);
}

Result<HistoryLine> FromJson(const Json& json) {
  if (!json.is_object()) return Fail(ErrorCode::kCorrupt, "it is not a JSON object");
  Reader reader{json, {}};
  if (const int version = reader.reader.Integer<int>(json, "v"); version > kFormat)
    return Fail(ErrorCode::kUnsupported, fmt::format("format {} was written by a newer warpwright", version));
  else if (version != kFormat)
    return Fail(ErrorCode::kCorrupt, "'v' is not 1");
  const std::string kind = reader.reader.Text(json, "kind");
  HistoryLine line;
  if (kind == "case") VisitCase(reader, line.emplace<CaseTime>());
  else if (kind == "night") VisitNight(reader, line.emplace<NightVerdict>());
  else if (kind == "finding") VisitFinding(reader, line.emplace<Finding>());
  else return Fail(ErrorCode::kCorrupt, "'kind' is none of case, night, finding");
  WW_TRY(reader.reader.status());
  WW_TRY(ParseUtc(TimeOf(line)));
  return line;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back(line);
  }
  return lines;
}

int64_t WeekOf(const std::string& time) {
  const int64_t days = ParseUtc(time).value_or(0) / 86400;
  return (days + 3) / 7;  // 1 January 1970 was a Thursday
}

struct DatedLine {
  std::string_view text;
  std::string time;
  bool finding = false;
};
struct Parsed {
  std::vector<DatedLine> lines;  // by time, each once
  bool newer = false;
};
Parsed ParseDated(std::string_view text) {
  Parsed parsed;
  std::set<std::string_view> seen;
  for (const std::string_view line : Lines(text)) {
    if (!seen.insert(line).second) continue;
    const auto value = ParseHistoryLine(line);
    if (value) parsed.lines.push_back({line, TimeOf(*value), std::holds_alternative<Finding>(*value)});
    else parsed.newer = parsed.newer || value.error().code == ErrorCode::kUnsupported;
  }
  std::stable_sort(parsed.lines.begin(), parsed.lines.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return parsed;
}

// The nights that stay: the newest, and of the older ones the first of each week.
std::set<std::string> Kept(const Parsed& parsed) {
  std::set<std::string> nights;
  for (const auto& line : parsed.lines)
    if (!line.finding) nights.insert(line.time);
  std::set<std::string> kept;
  auto newest = nights.rbegin();
  for (int i = 0; i < kNightsKept && newest != nights.rend(); ++i) kept.insert(*newest++);
  std::map<int64_t, std::string> weeks;
  for (auto older = newest; older != nights.rend(); ++older) weeks[WeekOf(*older)] = *older;
  int count = 0;
  for (auto week = weeks.rbegin(); week != weeks.rend() && count < kWeeksKept; ++week, ++count) kept.insert(week->second);
  return kept;
}

}  // namespace

Result<int64_t> ParseUtc(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  const auto wrong = [&] { return Fail(ErrorCode::kCorrupt, "'time' is not like 2026-11-21T02:30:00Z"); };
  if (text.size() != kShape.size()) return wrong();
  for (size_t i = 0; i < text.size(); ++i)
    if (kShape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != kShape[i]) return wrong();
  const auto number = [&](size_t at, size_t length) {
    int value = 0;
    for (size_t i = at; i < at + length; ++i) value = 10 * value + (text[i] - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)), std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || number(0, 4) < 1970 || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return wrong();
  return std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400} + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2);
}

Result<std::string> FormatHistoryLine(const HistoryLine& line) {
  Writer writer;
  std::visit(Overload{[&](const CaseTime& l) { writer.json["kind"] = "case"; VisitCase(writer, l); },
                      [&](const NightVerdict& l) { writer.json["kind"] = "night"; VisitNight(writer, l); },
                      [&](const Finding& l) { writer.json["kind"] = "finding"; VisitFinding(writer, l); }},
             line);
  std::string text = DumpJson(writer.json);
  if (text.size() > kMaxLineBytes) return Fail(ErrorCode::kCorrupt, fmt::format("a line of the history has more than {} bytes", kMaxLineBytes));
  WW_TRY(FromJson(Json::parse(text)));
  return text;
}

Result<HistoryLine> ParseHistoryLine(std::string_view line) {
  if (line.size() > kMaxLineBytes) return Fail(ErrorCode::kCorrupt, fmt::format("it has more than {} bytes", kMaxLineBytes));
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return Fail(ErrorCode::kCorrupt, "it is not JSON");
  return FromJson(json);
}

History ParseHistory(std::string_view text, std::string_view name) {
  History history;
  size_t number = 0;
  std::set<std::string_view> seen;
  for (const std::string_view line : Lines(text)) {
    ++number;
    if (!seen.insert(line).second) continue;
    auto value = ParseHistoryLine(line);
    if (!value) {
      if (history.warnings.size() < kMaxWarnings) history.warnings.push_back(fmt::format("{}: line {}: {}", name, number, value.error().message));
      continue;
    }
    std::visit(Overload{[&](CaseTime& l) { history.cases.push_back(std::move(l)); }, [&](NightVerdict& l) { history.nights.push_back(std::move(l)); },
                        [&](Finding& l) { history.findings.push_back(std::move(l)); }},
               *value);
  }
  const auto by_time = [](auto& list) { std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time < b.time; }); };
  by_time(history.cases);
  by_time(history.nights);
  by_time(history.findings);
  return history;
}

std::vector<Finding> History::Open() const {
  std::map<std::string, const Finding*> last;
  for (const Finding& finding : findings) last[finding.id] = &finding;
  std::vector<Finding> open;
  for (const Finding& finding : findings)
    if (last[finding.id] == &finding && (finding.state == "open" || finding.state == "changed")) open.push_back(finding);
  return open;
}

std::vector<Finding> History::Open(const HistoryKey& machine) const {
  std::vector<Finding> open = Open();
  std::erase_if(open, [&](const Finding& finding) { return !finding.key.SameMachine(machine); });
  return open;
}

std::string CompactHistory(std::string_view text) {
  const Parsed parsed = ParseDated(text);
  if (parsed.newer) return std::string(text);
  const std::set<std::string> kept = Kept(parsed);
  std::string out;
  for (const auto& line : parsed.lines)
    if (line.finding || kept.contains(line.time)) out.append(line.text).push_back('\n');
  return out;
}

bool NeedsCompacting(std::string_view text) {
  std::set<std::string> nights;
  const Parsed parsed = ParseDated(text);
  for (const auto& line : parsed.lines)
    if (!line.finding) nights.insert(line.time);
  return !parsed.newer && nights.size() > Kept(parsed).size() + kSlack;
}

std::string MergeHistories(std::string_view a, std::string_view b) {
  std::string joined(a);
  if (!joined.empty() && joined.back() != '\n') joined.push_back('\n');
  return CompactHistory(joined.append(b));
}

}  // namespace warpwright
