#include "nights/cron.h"

#include <date/tz.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/clock.h"

namespace warpwright {
namespace {

using std::chrono::system_clock;

// "2026-03-28T20:00:00Z"
system_clock::time_point Utc(const std::string& text) {
  std::tm parts{};
  EXPECT_NE(::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr) << text;
  return system_clock::from_time_t(::timegm(&parts));
}

// The day that the zone's clocks show: "2026-03-29".
std::string LocalDay(system_clock::time_point time, const std::string& zone) {
  return date::format("%F", date::make_zoned(zone, std::chrono::floor<std::chrono::seconds>(time)));
}

struct NextRow {
  const char* expression;
  const char* zone;
  const char* after;
  std::vector<const char*> next;
};

class CronNext : public testing::TestWithParam<NextRow> {};
TEST_P(CronNext, Follows) {
  const auto schedule = nights::ParseCron(GetParam().expression, GetParam().zone);
  ASSERT_TRUE(schedule) << schedule.error().Format();
  auto now = Utc(GetParam().after);
  for (const char* expected : GetParam().next) {
    now = schedule->Next(now);
    EXPECT_EQ(base::FormatUtc(now), expected) << GetParam().expression << " after " << GetParam().after;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rows, CronNext,
    testing::Values(
        NextRow{"30 2 * * *", "UTC", "2026-11-21T02:30:00Z", {"2026-11-22T02:30:00Z", "2026-11-23T02:30:00Z"}},
        NextRow{"30 2 * * *", "UTC", "2026-11-21T02:29:59Z", {"2026-11-21T02:30:00Z"}},
        NextRow{"*/20 4-5 * * *",
                "UTC",
                "2026-01-01T05:39:00Z",
                {"2026-01-01T05:40:00Z", "2026-01-02T04:00:00Z", "2026-01-02T04:20:00Z"}},
        NextRow{"0 0,12 * * *", "UTC", "2026-01-01T00:00:00Z", {"2026-01-01T12:00:00Z", "2026-01-02T00:00:00Z"}},
        NextRow{"0 3 * * mon-fri", "UTC", "2026-11-20T03:00:00Z", {"2026-11-23T03:00:00Z"}},  // a Friday
        NextRow{"0 3 * * 7", "UTC", "2026-11-20T03:00:00Z", {"2026-11-22T03:00:00Z", "2026-11-29T03:00:00Z"}},
        NextRow{"0 3 * * 5-7",
                "UTC",
                "2026-11-20T03:00:00Z",
                {"2026-11-21T03:00:00Z", "2026-11-22T03:00:00Z", "2026-11-27T03:00:00Z"}},
        NextRow{"0 0 13 * FRI",
                "UTC",
                "2026-02-01T00:00:00Z",
                {"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z"}},  // either one is enough
        NextRow{"0 0 */2 * fri",
                "UTC",
                "2026-02-01T00:00:00Z",
                {"2026-02-13T00:00:00Z", "2026-02-27T00:00:00Z"}},  // both: begins with *
        NextRow{"0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", {"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
        NextRow{"0 0 31 * *", "UTC", "2026-01-31T00:00:00Z", {"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"}},
        NextRow{"0 0 1 Jan,JUL *", "UTC", "2026-01-01T00:00:00Z", {"2026-07-01T00:00:00Z", "2027-01-01T00:00:00Z"}},
        NextRow{"@hourly", "UTC", "2026-01-01T00:10:00Z", {"2026-01-01T01:00:00Z"}},
        NextRow{"@daily", "America/New_York", "2026-01-01T00:00:00Z", {"2026-01-01T05:00:00Z", "2026-01-02T05:00:00Z"}},
        NextRow{"@weekly", "UTC", "2026-11-20T00:00:00Z", {"2026-11-22T00:00:00Z"}},
        NextRow{"@monthly", "UTC", "2026-11-20T00:00:00Z", {"2026-12-01T00:00:00Z"}},
        NextRow{"@yearly", "UTC", "2026-11-20T00:00:00Z", {"2027-01-01T00:00:00Z"}},
        // Berlin, 29 March 2026: 02:00 CET is followed by 03:00 CEST, at 01:00 UTC.
        NextRow{
            "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", {"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
        NextRow{"0,20,40 2 * * *",
                "Europe/Berlin",
                "2026-03-28T12:00:00Z",
                {"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
        NextRow{"0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", {"2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"}},
        NextRow{
            "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", {"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
        NextRow{
            "30 * * * *", "Europe/Berlin", "2026-03-28T23:45:00Z", {"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}},
        // 25 October 2026: 03:00 CEST is followed by 02:00 CET, at 01:00 UTC.
        NextRow{
            "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", {"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
        NextRow{
            "30 2 * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", {"2026-10-26T01:30:00Z"}},  // from the second 02:00
        NextRow{"30 * * * *",
                "Europe/Berlin",
                "2026-10-24T23:45:00Z",
                {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
        NextRow{"*/30 * * * *",
                "Europe/Berlin",
                "2026-10-25T00:15:00Z",
                {"2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z"}},
        // New York, 8 March 2026: 02:00 EST is followed by 03:00 EDT, at 07:00 UTC; 1 November: 02:00 EDT by 01:00 EST,
        // at 06:00 UTC.
        NextRow{
            "15 2 * * *", "America/New_York", "2026-03-07T20:00:00Z", {"2026-03-08T07:00:00Z", "2026-03-09T06:15:00Z"}},
        NextRow{"15 2 * * *", "America/New_York", "2026-03-08T07:00:00Z", {"2026-03-09T06:15:00Z"}},
        NextRow{
            "15 1 * * *", "America/New_York", "2026-10-31T20:00:00Z", {"2026-11-01T05:15:00Z", "2026-11-02T06:15:00Z"}},
        NextRow{
            "0 1 1 11 *", "America/New_York", "2026-10-31T20:00:00Z", {"2026-11-01T05:00:00Z", "2027-11-01T05:00:00Z"}},
        // Half an hour (Lord Howe), and a day that the clocks skipped (Apia, 30 December 2011).
        NextRow{"15 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-03T00:00:00Z",
                {"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
        NextRow{
            "0 5 * * *", "Pacific/Apia", "2011-12-29T20:00:00Z", {"2011-12-30T10:00:00Z", "2011-12-30T15:00:00Z"}}));

struct ErrorRow {
  const char* expression;
  const char* zone;
  const char* says;
};
class CronError : public testing::TestWithParam<ErrorRow> {};
TEST_P(CronError, NamesTheField) {
  const auto schedule = nights::ParseCron(GetParam().expression, GetParam().zone);
  ASSERT_FALSE(schedule) << GetParam().expression;
  EXPECT_EQ(schedule.error().code, ErrorCode::kConfig);
  EXPECT_NE(schedule.error().message.find(GetParam().says), std::string::npos) << schedule.error().message;
  EXPECT_FALSE(schedule.error().remedy.empty());
}
INSTANTIATE_TEST_SUITE_P(
    Rows, CronError,
    testing::Values(ErrorRow{"60 * * * *", "UTC", "minute '60': 60 is not within 0 to 59"},
                    ErrorRow{"* 24 * * *", "UTC", "hour '24'"}, ErrorRow{"* * 0 * *", "UTC", "day of month '0'"},
                    ErrorRow{"* * * 13 *", "UTC", "month '13'"}, ErrorRow{"* * * * 8", "UTC", "day of week '8'"},
                    ErrorRow{"* * * foo *", "UTC", "month 'foo': 'foo' is not a number or a name"},
                    ErrorRow{"mon * * * *", "UTC", "minute 'mon'"},
                    ErrorRow{"5-1 * * * *", "UTC", "ends before it begins"}, ErrorRow{"*/0 * * * *", "UTC", "a step"},
                    ErrorRow{"*/90 * * * *", "UTC", "a step"}, ErrorRow{"5/10 * * * *", "UTC", "5-59/10"},
                    ErrorRow{"1,,2 * * * *", "UTC", "empty"}, ErrorRow{"1-2-3 * * * *", "UTC", "range"},
                    ErrorRow{"*/2/2 * * * *", "UTC", "step"}, ErrorRow{"* * L * *", "UTC", "day of month 'L'"},
                    ErrorRow{"-1 * * * *", "UTC", "minute"}, ErrorRow{"* * * *", "UTC", "4 fields"},
                    ErrorRow{"0 0 * * * *", "UTC", "6 fields"}, ErrorRow{"", "UTC", "0 fields"},
                    ErrorRow{"@reboot", "UTC", "@reboot"}, ErrorRow{"0 0 30 2 *", "UTC", "the date does not exist"},
                    ErrorRow{"0 0 31 4,6,9,11 *", "UTC", "the date does not exist"},
                    ErrorRow{"@daily", "Europe/Berln", "Europe/Berln"},
                    ErrorRow{"@daily", "../../etc/passwd", "no time zone"}, ErrorRow{"@daily", "", "time zone"}));

// Any daily schedule runs exactly once a day, over every transition of twenty years.
TEST(Cron, ADailyTimeRunsOncePerLocalDay) {
  for (const char* zone :
       {"Europe/Berlin", "America/New_York", "Antarctica/Troll", "Australia/Lord_Howe", "America/Havana"})
    for (const char* expression : {"30 2 * * *", "30 0 * * *", "59 23 * * *", "0 1 * * *"}) {
      const auto schedule = nights::ParseCron(expression, zone);
      ASSERT_TRUE(schedule);
      auto now = Utc("2020-01-01T12:00:00Z");
      std::string day;
      int runs = 0;
      for (; now < Utc("2025-01-01T12:00:00Z"); ++runs) {
        const auto next = schedule->Next(now);
        ASSERT_GT(next, now);
        const std::string next_day = LocalDay(next, zone);
        ASSERT_NE(next_day, day) << zone << " " << expression << " " << base::FormatUtc(next);
        day = next_day;
        now = next;
      }
      EXPECT_TRUE(runs == 1827 || runs == 1828)
          << runs << " " << zone << " " << expression;  // 1827 days; the last run is beyond the end
    }
}

}  // namespace
}  // namespace warpwright
