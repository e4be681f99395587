#include "nights/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_codec.h"
#include "base/text_check.h"
#include "nights/history_fields.h"

namespace warpwright::nights {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr size_t kMaxLineBytes = 8 << 10, kMaxText = 600, kMaxWarnings = 100;
constexpr int kSlack = 32;  // runs beyond kNightsKept before a file is rewritten

const std::string& TimeOf(const HistoryLine& line) {
  return std::visit([](const auto& l) -> const std::string& { return l.time; }, line);
}

Result<HistoryLine> LineOf(const Json& json) {
  if (!json.is_object()) return Fail(ErrorCode::kCorrupt, "it is not a JSON object");
  const auto version = json.find("v");
  if (version == json.end() || !version->is_number_integer() || *version < kFormat)
    return Fail(ErrorCode::kCorrupt, "'v' is not 1");
  if (*version > kFormat)
    return Fail(ErrorCode::kUnsupported,
                fmt::format("format {} was written by a newer warpwright", base::DumpJson(*version)));
  WW_ASSIGN(HistoryLine line, base::FromJson<HistoryLine>(json));
  WW_TRY(std::visit([](const auto& l) { return base::CheckTexts(l, kMaxText); }, line));
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
  std::vector<DatedLine> lines;  // by time, without duplicates
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
  std::stable_sort(parsed.lines.begin(), parsed.lines.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  return parsed;
}

// The runs that are kept: the newest, and of the older ones the first of each week.
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
  for (auto week = weeks.rbegin(); week != weeks.rend() && count < kWeeksKept; ++week, ++count)
    kept.insert(week->second);
  return kept;
}

}  // namespace

std::string_view Name(NightState state) {
  switch (state) {
    case NightState::kFirst: return "first";
    case NightState::kSame: return "same";
    case NightState::kFaster: return "faster";
    case NightState::kSlower: return "slower";
    case NightState::kDrift: return "drift";
    case NightState::kUnclear: return "unclear";
    case NightState::kFailed: return "failed";
  }
  return "?";
}

std::string_view Name(FindingState state) {
  switch (state) {
    case FindingState::kOpen: return "open";
    case FindingState::kChanged: return "changed";
    case FindingState::kRecovered: return "recovered";
    case FindingState::kAccepted: return "accepted";
  }
  return "?";
}

std::string_view Name(Cause cause) {
  switch (cause) {
    case Cause::kCode: return "code";
    case Cause::kDriver: return "driver";
    case Cause::kToolkit: return "toolkit";
    case Cause::kDriverOrToolkit: return "driver or toolkit";
    case Cause::kUnknown: return "unknown";
  }
  return "?";
}

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
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || number(0, 4) < 1970 || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59)
    return wrong();
  return std::chrono::sys_days(date).time_since_epoch().count() * int64_t{86400} + number(11, 2) * 3600 +
         number(14, 2) * 60 + number(17, 2);
}

Result<std::string> FormatHistoryLine(const HistoryLine& line) {
  Json json = base::ToJson(line);
  json["v"] = kFormat;
  std::string text = base::DumpJson(json);
  if (text.size() > kMaxLineBytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("a line of the history has more than {} bytes", kMaxLineBytes));
  WW_TRY(LineOf(json));
  return text;
}

Result<HistoryLine> ParseHistoryLine(std::string_view line) {
  if (line.size() > kMaxLineBytes)
    return Fail(ErrorCode::kCorrupt, fmt::format("it has more than {} bytes", kMaxLineBytes));
  WW_ASSIGN(const Json json, base::ParseJson(line));
  return LineOf(json);
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
      if (history.warnings.size() < kMaxWarnings)
        history.warnings.push_back(fmt::format("{}: line {}: {}", name, number, value.error().message));
      continue;
    }
    std::visit(Overload{[&](CaseTime& l) { history.cases.push_back(std::move(l)); },
                        [&](NightVerdict& l) { history.nights.push_back(std::move(l)); },
                        [&](Finding& l) { history.findings.push_back(std::move(l)); }},
               *value);
  }
  const auto by_time = [](auto& list) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  };
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
    if (last[finding.id] == &finding &&
        (finding.state == FindingState::kOpen || finding.state == FindingState::kChanged))
      open.push_back(finding);
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

}  // namespace warpwright::nights
