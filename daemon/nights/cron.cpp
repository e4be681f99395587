#include "nights/cron.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <vector>

namespace warpwright::nights {
namespace {

using std::chrono::system_clock;

constexpr size_t kMaxExpression = 256;
// No clock change of a present-day zone is longer (Antarctica/Troll: two hours).
constexpr std::chrono::hours kLongestShift{4};
// The rarest possible date, 29 February, occurs every 8 years at worst; on a given weekday every 40.
constexpr int kMostDays = 366 * 41;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Field {
  const char* name;
  int low, high;
  std::span<const std::string_view> names;
  int first_name;
};
const Field kFields[] = {{"minute", 0, 59, {}, 0},
                         {"hour", 0, 23, {}, 0},
                         {"day of month", 1, 31, {}, 0},
                         {"month", 1, 12, kMonths, 1},
                         {"day of week", 0, 7, kWeekdays, 0}};

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kConfig, "schedule: " + std::move(message),
              "write five fields, like \"30 2 * * *\" for 02:30 every day, or @daily");
}
tl::unexpected<Error> Wrong(const Field& field, std::string_view text, std::string_view why) {
  return Wrong(fmt::format("{} '{}': {}", field.name, text, why));
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

std::optional<int> Number(std::string_view text) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

std::optional<int> Value(const Field& field, std::string_view text) {
  if (text.size() == 3) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (size_t i = 0; i < field.names.size(); ++i)
      if (lower == field.names[i]) return field.first_name + static_cast<int>(i);
  }
  return Number(text);
}

// One item of a list, as bits.
Result<uint64_t> ParseItem(const Field& field, std::string_view item) {
  const auto parts = Split(item, '/');
  if (parts.size() > 2) return Wrong(field, item, "has more than one step");
  int low = field.low, high = field.high;
  if (parts[0] != "*") {
    const auto ends = Split(parts[0], '-');
    if (ends.size() > 2) return Wrong(field, item, "is not a range");
    for (const std::string_view end : ends)
      if (!Value(field, end))
        return Wrong(field, item,
                     fmt::format("'{}' is not a number{}", end,
                                 field.names.empty() ? "" : fmt::format(" or a name like {}", field.names[1])));
    low = *Value(field, ends.front());
    high = *Value(field, ends.back());
    for (const int value : {low, high})
      if (value < field.low || value > field.high)
        return Wrong(field, item, fmt::format("{} is not within {} to {}", value, field.low, field.high));
    if (low > high) return Wrong(field, item, "the range ends before it begins");
    if (parts.size() == 2 && ends.size() == 1)
      return Wrong(field, item, fmt::format("a step needs a range, like {}-{}/{}", low, field.high, parts[1]));
  }
  int step = 1;
  if (parts.size() == 2) {
    const auto given = Number(parts[1]);
    if (!given || *given < 1 || *given > field.high - field.low)
      return Wrong(field, item, fmt::format("a step is a number from 1 to {}", field.high - field.low));
    step = *given;
  }
  uint64_t bits = 0;
  for (int value = low; value <= high; value += step) bits |= uint64_t{1} << value;
  return bits;
}

Result<uint64_t> ParseField(const Field& field, std::string_view text) {
  uint64_t bits = 0;
  for (const std::string_view item : Split(text, ',')) {
    if (item.empty()) return Wrong(field, text, "an item of the list is empty");
    WW_ASSIGN(const uint64_t more, ParseItem(field, item));
    bits |= more;
  }
  return bits;
}

Result<std::string_view> Expand(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
      {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}};
  for (const auto& [known, fields] : kNames)
    if (name == known) return fields;
  return Wrong(fmt::format("'{}' is not one of @hourly, @daily, @weekly, @monthly, @yearly", name));
}

Result<std::vector<std::string_view>> Fields(std::string_view expression) {
  std::vector<std::string_view> fields;
  for (size_t at = 0; (at = expression.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const size_t end = std::min(expression.find_first_of(" \t", at), expression.size());
    fields.push_back(expression.substr(at, end - at));
    at = end;
  }
  if (fields.size() == 1 && fields[0].starts_with('@')) {
    WW_ASSIGN(const std::string_view expanded, Expand(fields[0]));
    return Fields(expanded);
  }
  if (fields.size() != std::size(kFields))
    return Wrong(fmt::format("'{}' has {} fields instead of 5", expression, fields.size()));
  return fields;
}

bool Bit(uint64_t bits, int value) { return (bits >> value & 1) != 0; }

}  // namespace

Result<CronSchedule> ParseCron(std::string_view expression, const std::string& zone) {
  if (expression.size() > kMaxExpression) return Wrong(fmt::format("longer than {} characters", kMaxExpression));
  WW_ASSIGN(const auto fields, Fields(expression));
  uint64_t bits[std::size(kFields)];
  for (size_t i = 0; i < std::size(kFields); ++i) {
    WW_ASSIGN(bits[i], ParseField(kFields[i], fields[i]));
  }
  CronSchedule schedule;
  schedule.minutes_ = bits[0];
  schedule.hours_ = static_cast<uint32_t>(bits[1]);
  schedule.days_ = static_cast<uint32_t>(bits[2]);
  schedule.months_ = static_cast<uint32_t>(bits[3]);
  schedule.weekdays_ = static_cast<uint32_t>((bits[4] | bits[4] >> 7) & 0x7f);  // 7 is Sunday too
  schedule.every_hour_ = fields[1] == "*";
  schedule.any_day_ = fields[2].starts_with('*');
  schedule.any_weekday_ = fields[4].starts_with('*');

  constexpr int kLongest[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool comes = !schedule.any_day_ && !schedule.any_weekday_;  // then a weekday is enough
  for (int month = 1; month <= 12; ++month)
    comes = comes || (Bit(bits[3], month) && std::countr_zero(bits[2]) <= kLongest[month - 1]);
  if (!comes) return Wrong(fmt::format("day of month '{}', month '{}': the date does not exist", fields[2], fields[3]));

  if (zone.empty() || zone.size() > 64)
    return Fail(ErrorCode::kConfig, "the time zone is empty or too long", "name one like Europe/Berlin or UTC");
  try {
    schedule.zone_ = date::locate_zone(zone);
  } catch (const std::exception&) {
    return Fail(ErrorCode::kConfig, fmt::format("no time zone '{}' in the system's database", zone),
                "name one like Europe/Berlin or UTC (`timedatectl list-timezones`); if there are none at all, "
                "install tzdata");
  }
  return schedule;
}

bool CronSchedule::DayMatches(int month, int day, int weekday) const {
  if (!Bit(months_, month)) return false;
  const bool by_day = Bit(days_, day), by_weekday = Bit(weekdays_, weekday);
  return any_day_ || any_weekday_ ? by_day && by_weekday : by_day || by_weekday;
}

system_clock::time_point CronSchedule::Next(system_clock::time_point after) const {
  using std::chrono::minutes;
  const auto now = std::chrono::floor<std::chrono::seconds>(after);
  const auto start = std::chrono::floor<minutes>(zone_->to_local(now)) - kLongestShift;
  const auto first_day = std::chrono::floor<date::days>(start);
  // The earlier moment of each local minute never decreases as local time increases, so the search ends at the first
  // that is not below the best.
  std::optional<date::sys_seconds> best;
  const auto offer = [&](date::sys_seconds moment) {
    if (moment > now && (!best || moment < *best)) best = moment;
  };
  for (int offset = 0; offset < kMostDays; ++offset) {
    const auto day = first_day + date::days(offset);
    const date::year_month_day civil{day};
    if (!DayMatches(static_cast<int>(static_cast<unsigned>(civil.month())),
                    static_cast<int>(static_cast<unsigned>(civil.day())),
                    static_cast<int>(date::weekday(day).c_encoding())))
      continue;
    for (int hour = 0; hour < 24; ++hour) {
      if (!Bit(hours_, hour)) continue;
      for (int minute = 0; minute < 60; ++minute) {
        const date::local_seconds local = day + std::chrono::hours(hour) + minutes(minute);
        if (!Bit(minutes_, minute) || local < start) continue;
        const date::local_info info = zone_->get_info(local);
        const bool skipped = info.result == date::local_info::nonexistent;
        const date::sys_seconds moment =
            skipped ? info.second.begin : date::sys_seconds(local.time_since_epoch() - info.first.offset);
        if (best && moment >= *best) return *best;
        if (skipped && every_hour_) continue;
        offer(moment);
        if (info.result == date::local_info::ambiguous && every_hour_)
          offer(date::sys_seconds(local.time_since_epoch() - info.second.offset));
      }
    }
  }
  return best ? system_clock::time_point(*best) : system_clock::time_point::max();
}

}  // namespace warpwright::nights
