// When a nightly run starts: the five fields of cron in a time zone of the IANA database.
//
//   minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12, jan-dec)  day of week (0-7, sun-sat; 0 and 7 are
//   Sunday)
//
// A field is a list of `*`, numbers, names, ranges a-b and steps */n or a-b/n. As in Vixie cron, a day matches if both
// day fields do; but if neither of them begins with `*`, one is enough. @hourly, @daily (@midnight), @weekly, @monthly,
// @yearly (@annually) stand for the usual five fields.
//
// Daylight saving, when the hour is given: a time that the clocks skip runs at the first moment after the gap (once, no
// matter how many of its times fell into the gap); a time that occurs twice runs the first time only. If the hour field
// is `*`, the schedule is one of intervals: it runs at every matching minute that the clocks show, twice if they show
// it twice, and not at all if they skip it. Own code, because Debian has no library for it; the time zones are those of
// the date library.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace date {
class time_zone;
}

namespace warpwright::nights {

class CronSchedule {
 public:
  // The first matching time after `after`; a whole minute.
  std::chrono::system_clock::time_point Next(std::chrono::system_clock::time_point after) const;

 private:
  friend Result<CronSchedule> ParseCron(std::string_view expression, const std::string& zone);
  bool DayMatches(int month, int day, int weekday) const;

  uint64_t minutes_ = 0;  // bit n: the value n matches
  uint32_t hours_ = 0, days_ = 0, months_ = 0, weekdays_ = 0;
  bool every_hour_ = false;                     // the hour field is `*`
  bool any_day_ = false, any_weekday_ = false;  // the day fields begin with `*`
  const date::time_zone* zone_ = nullptr;       // of the process's own database
};

// `zone`: "Europe/Berlin", "UTC". kConfig errors name the field and what is wrong with it, also for dates that never
// occur (30 February).
Result<CronSchedule> ParseCron(std::string_view expression, const std::string& zone);

}  // namespace warpwright::nights
