#include "nights/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/clock.h"
#include "nights/history_fields.h"
#include "tests/support/described.h"

namespace warpwright {
namespace {

std::string TimeOf(int day) {
  return base::FormatUtc(std::chrono::system_clock::from_time_t(1'600'000'000 + int64_t{day} * 86400));
}

nights::CaseTime TimedCase(int day, double us = 100) {
  nights::CaseTime c;
  c.time = TimeOf(day);
  c.kernel = "softmax";
  c.key = {"GPU-1", "NVIDIA H200", "580.1", "NVRTC 13.0", "paired-1"};
  c.commit = std::string(40, 'a');
  c.slice = std::string(64, 'b');
  c.case_name = "N=1024, \"C\"=768\n";
  c.median_us = us;
  c.log_mean = 4.6;
  c.log_error = 0.001;
  c.samples = 100;
  c.mhz = 1980;
  return c;
}
nights::Finding Found(int day, nights::FindingState state) {
  nights::Finding f;
  f.time = TimeOf(day);
  f.kernel = "softmax";
  f.id = "f1";
  f.key = TimedCase(0).key;
  f.state = state;
  f.cause = nights::Cause::kCode;
  f.subject = "perf: ünïcode </script>";
  f.log_ratio = 0.1;
  return f;
}
nights::NightVerdict VerdictOf(int day) {
  nights::NightVerdict n;
  n.time = TimeOf(day);
  n.kernel = "softmax";
  n.key = TimedCase(0).key;
  n.commit = TimedCase(0).commit;
  n.state = nights::NightState::kSame;
  n.epoch = true;
  return n;
}
std::string Line(const nights::HistoryLine& line) {
  const auto text = nights::FormatHistoryLine(line);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text + "\n" : "";
}

TEST(History, LinesComeBackAsTheyWere) {
  for (const nights::HistoryLine& line : {nights::HistoryLine(TimedCase(1)), nights::HistoryLine(VerdictOf(1)),
                                          nights::HistoryLine(Found(1, nights::FindingState::kOpen))}) {
    const auto text = nights::FormatHistoryLine(line);
    ASSERT_TRUE(text);
    EXPECT_EQ(text->find('\n'), std::string::npos);
    const auto back = nights::ParseHistoryLine(*text);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, line);
  }
}

TEST(History, EveryMemberTravels) {
  testing::ExpectDescribed<nights::HistoryKey>();
  testing::ExpectDescribed<nights::CaseTime>();
  testing::ExpectDescribed<nights::NightVerdict>();
  testing::ExpectDescribed<nights::Finding>();
}

TEST(History, BadLinesSayWhatIsWrong) {
  const std::string good = Line(TimedCase(1));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const struct {
    std::string line, says;
  } rows[] = {{"nonsense", "not JSON"},
              {"[]", "object"},
              {"{}", "'v'"},
              {with("\"v\":1", "\"v\":2"), "newer warpwright"},
              {with("\"kind\":\"case\"", "\"kind\":\"else\""), "kind: unknown 'else'"},
              {with("\"samples\":100", "\"samples\":-1"), "'samples' is out of range"},
              {with("\"samples\":100", "\"samples\":1e99"), "samples: not an integer"},
              {with("\"median_us\":100.0", "\"median_us\":-1"), "'median_us'"},
              {with("\"median_us\":100.0", "\"median_us\":null"), "'median_us'"},
              {with("\"log_error\":0.001", "\"log_error\":\"x\""), "log_error: not a number"},
              {with("2020-09-14", "2020-02-30"), "'time'"},
              {with("2020-09-14T12:26:40Z", "yesterday"), "'time'"},
              {with("\"kernel\":\"softmax\"", "\"kernel\":\"" + std::string(700, 'x') + "\""), "more than"},
              {std::string(10'000, ' '), "more than"}};
  for (const auto& row : rows) {
    const auto parsed = nights::ParseHistoryLine(row.line);
    ASSERT_FALSE(parsed) << row.line;
    EXPECT_NE(parsed.error().message.find(row.says), std::string::npos) << parsed.error().message << "\n" << row.line;
  }
  nights::CaseTime endless = TimedCase(1);
  endless.log_mean = INFINITY;
  EXPECT_FALSE(nights::FormatHistoryLine(endless));
}

TEST(History, ReadsAnyOrderOnceAndWarnsOfTheRest) {
  const nights::History history =
      nights::ParseHistory(Line(TimedCase(2)) + "junk\n\n" + Line(TimedCase(1)) + Line(TimedCase(2)) +
                               Line(VerdictOf(2)) + Line(Found(1, nights::FindingState::kOpen)),
                           "softmax.jsonl");
  ASSERT_EQ(history.cases.size(), 2u);
  EXPECT_LT(history.cases[0].time, history.cases[1].time);
  EXPECT_EQ(history.nights.size(), 1u);
  ASSERT_EQ(history.warnings.size(), 1u);
  EXPECT_EQ(history.warnings[0], "softmax.jsonl: line 2: not JSON at byte 1");
}

TEST(History, TheLastLineOfAFindingCounts) {
  EXPECT_EQ(nights::ParseHistory(Line(Found(1, nights::FindingState::kOpen)), "").Open().size(), 1u);
  EXPECT_EQ(nights::ParseHistory(
                Line(Found(2, nights::FindingState::kChanged)) + Line(Found(1, nights::FindingState::kOpen)), "")
                .Open()
                .at(0)
                .state,
            nights::FindingState::kChanged);
  EXPECT_TRUE(nights::ParseHistory(
                  Line(Found(2, nights::FindingState::kRecovered)) + Line(Found(1, nights::FindingState::kOpen)), "")
                  .Open()
                  .empty());
  EXPECT_EQ(nights::ParseHistory(Line(Found(1, nights::FindingState::kOpen)) +
                                     Line(Found(2, nights::FindingState::kAccepted)) +
                                     Line(Found(3, nights::FindingState::kOpen)),
                                 "")
                .Open()
                .size(),
            1u);
}

TEST(History, OldNightsAreThinnedToWeeksAndFindingsStay) {
  std::string text = Line(Found(0, nights::FindingState::kOpen));
  for (int day = 0; day < 600; ++day) text += Line(TimedCase(day)) + Line(VerdictOf(day));
  EXPECT_TRUE(nights::NeedsCompacting(text));
  const std::string compact = nights::CompactHistory(text + "junk\n");
  EXPECT_FALSE(nights::NeedsCompacting(compact));
  EXPECT_EQ(nights::CompactHistory(compact), compact);
  const nights::History history = nights::ParseHistory(compact, "");
  EXPECT_TRUE(history.warnings.empty());
  EXPECT_EQ(history.findings.size(), 1u);
  EXPECT_EQ(history.cases.size(), history.nights.size());
  EXPECT_GE(history.cases.size(), 400u + 28);
  EXPECT_LE(history.cases.size(), 400u + 30);
  EXPECT_EQ(history.cases.back().time, TimeOf(599));
  EXPECT_EQ(history.cases.front().time, TimeOf(0));
  // Ten years of nightly runs remain bounded.
  std::string decade;
  for (int day = 0; day < 5000; ++day) decade += Line(VerdictOf(day));
  EXPECT_EQ(nights::ParseHistory(nights::CompactHistory(decade), "").nights.size(),
            size_t{nights::kNightsKept + nights::kWeeksKept});
}

TEST(History, WhatANewerProgramWroteIsLeftAlone) {
  std::string text;
  for (int day = 0; day < 600; ++day) text += Line(VerdictOf(day));
  text += "{\"v\":9,\"kind\":\"other\"}\n";
  EXPECT_FALSE(nights::NeedsCompacting(text));
  EXPECT_EQ(nights::CompactHistory(text), text);
}

TEST(History, TwoBranchesJoin) {
  const std::string base = Line(TimedCase(1)), a = base + Line(TimedCase(2)), b = base + Line(TimedCase(3));
  EXPECT_EQ(nights::MergeHistories(a, b), nights::MergeHistories(b, a));
  EXPECT_EQ(nights::MergeHistories(a, b), base + Line(TimedCase(2)) + Line(TimedCase(3)));
  EXPECT_EQ(nights::MergeHistories(a.substr(0, a.size() - 1), b), nights::MergeHistories(a, b));
}

TEST(History, UtcIsStrict) {
  EXPECT_EQ(*nights::ParseUtc("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(*nights::ParseUtc("2026-11-21T02:30:00Z"), 1795228200);
  for (const char* text : {"2026-11-21", "2026-11-21T24:00:00Z", "2026-13-01T00:00:00Z", "2026-11-21T02:30:00+",
                           "0000-01-01T00:00:00Z", ""})
    EXPECT_FALSE(nights::ParseUtc(text)) << text;
}

}  // namespace
}  // namespace warpwright
