#include "nights/night.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/clock.h"

namespace warpwright {
namespace {

// Consecutive nightly runs over one history, as the command does it.
class NightTest : public ::testing::Test {
 protected:
  nights::HistoryKey key{"GPU-1", "NVIDIA H200", "575.1", "NVRTC 12.9", "paired-1"};
  nights::History history;
  int day = 0;

  nights::NightInput Input(const std::string& slice, double us) {
    nights::NightInput input;
    input.time = base::FormatUtc(std::chrono::system_clock::from_time_t(1'767'234'600 + int64_t{day++} * 86400));
    input.kernel = "softmax";
    input.key = key;
    input.commit = "commit-" + slice;
    input.slice = slice;
    input.present = {Time(us)};
    return input;
  }
  static nights::NightTime Time(double us) { return {"big", 1, us, std::log(us), 0.0005, 1980, 60, 0}; }
  // Of a different slice than the reference's: timed against it, which takes `reference_us`.
  nights::NightInput Against(const std::string& slice, double us, double reference_us, nights::CodeDecision decision) {
    nights::NightInput input = Input(slice, us);
    input.reference = nights::ReferenceRevisionOf(history, key);
    input.reference_times = {Time(reference_us)};
    const double ratio = std::log(us / reference_us);
    input.code = nights::CodeJudgement{decision, ratio, ratio - 0.002, ratio + 0.002, ""};
    return input;
  }
  nights::NightOutcome Sleep(const nights::NightInput& input, const nights::FirstBadCommit& first_bad = {}) {
    nights::NightOutcome outcome = nights::DecideNight(history, input);
    if (outcome.needs_bisection) nights::AddCodeFinding(history, input, first_bad, outcome);
    std::string text;
    for (const auto* list = &history; list != nullptr; list = nullptr) {
      for (const auto& c : list->cases) text += *nights::FormatHistoryLine(c) + "\n";
      for (const auto& n : list->nights) text += *nights::FormatHistoryLine(n) + "\n";
      for (const auto& f : list->findings) text += *nights::FormatHistoryLine(f) + "\n";
    }
    for (const auto& line : outcome.Lines()) {
      const auto written = nights::FormatHistoryLine(line);
      EXPECT_TRUE(written) << written.error().Format();
      if (written) text += *written + "\n";
    }
    history = nights::ParseHistory(text, "test");
    EXPECT_TRUE(history.warnings.empty());
    return outcome;
  }
  void Steady(int nights, const std::string& slice, double us) {
    for (int i = 0; i < nights; ++i) ASSERT_TRUE(Sleep(Input(slice, us * (1 + 0.001 * (i % 3)))).reported.empty());
  }
};

TEST_F(NightTest, TheFirstNightIsTheReference) {
  EXPECT_FALSE(nights::ReferenceRevisionOf(history, key));
  EXPECT_EQ(Sleep(Input("a", 100)).verdict.state, nights::NightState::kFirst);
  ASSERT_TRUE(nights::ReferenceRevisionOf(history, key));
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "a");
  EXPECT_EQ(Sleep(Input("a", 100)).verdict.state, nights::NightState::kSame);
  nights::HistoryKey other = key;
  other.device = "GPU-2";
  EXPECT_FALSE(nights::ReferenceRevisionOf(history, other));
  other = key;
  other.driver = "580.1";
  EXPECT_TRUE(nights::ReferenceRevisionOf(history, other));
}

TEST_F(NightTest, SlowerCodeIsReportedOnceAndAgainWhenItChanges) {
  Sleep(Input("a", 100));
  const nights::NightOutcome first = Sleep(Against("b", 120, 100, nights::CodeDecision::kSlower),
                                           {"commit-b", "subject", "", true, std::log(1.2), 0.18, 0.19});
  EXPECT_TRUE(first.needs_bisection);
  ASSERT_EQ(first.reported.size(), 1u);
  EXPECT_EQ(first.reported[0].cause, nights::Cause::kCode);
  EXPECT_EQ(first.reported[0].commit, "commit-b");
  EXPECT_EQ(first.verdict.finding, first.reported[0].id);
  EXPECT_NE(first.reported[0].message.find("20.0 % more time"), std::string::npos) << first.reported[0].message;
  // The same code again: known, no search.
  const nights::NightOutcome second = Sleep(Against("b", 120, 100, nights::CodeDecision::kSlower));
  EXPECT_FALSE(second.needs_bisection);
  EXPECT_TRUE(second.reported.empty());
  EXPECT_EQ(second.verdict.finding, first.verdict.finding);
  // Another commit on top, the same first bad commit: silent.
  EXPECT_TRUE(Sleep(Against("c", 120.5, 100, nights::CodeDecision::kSlower), {"commit-b", "subject"}).reported.empty());
  EXPECT_EQ(history.Open().size(), 1u);
  // It grew: reported, as the same finding.
  const nights::NightOutcome grown =
      Sleep(Against("d", 140, 100, nights::CodeDecision::kSlower), {"commit-b", "subject"});
  ASSERT_EQ(grown.reported.size(), 1u);
  EXPECT_EQ(grown.reported[0].state, nights::FindingState::kChanged);
  EXPECT_EQ(grown.reported[0].id, first.reported[0].id);
  // Another first bad commit: a new finding, the old one ends.
  ASSERT_EQ(Sleep(Against("e", 150, 100, nights::CodeDecision::kSlower), {"commit-e", "other"}).reported.size(), 1u);
  ASSERT_EQ(history.Open().size(), 1u);
  EXPECT_EQ(history.Open()[0].commit, "commit-e");
  // As fast as the reference again.
  EXPECT_TRUE(Sleep(Against("f", 100, 100, nights::CodeDecision::kSame)).reported.empty());
  EXPECT_TRUE(history.Open().empty());
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "a");
}

TEST_F(NightTest, SmallStepsAddUpToAChange) {
  Sleep(Input("a", 100));
  Sleep(Against("b", 110, 100, nights::CodeDecision::kSlower), {"commit-b", ""});
  int reported = 0;
  for (int i = 1; i <= 4; ++i)
    reported += static_cast<int>(
        Sleep(Against("b" + std::to_string(i), 110 + 1.5 * i, 100, nights::CodeDecision::kSlower), {"commit-b", ""})
            .reported.size());
  EXPECT_EQ(reported, 1);
}

TEST_F(NightTest, TheReferenceMovesWhereTonightIsFasterAndNotWhereItIsTheSame) {
  Sleep(Input("a", 100));
  Sleep(Against("b", 101, 100, nights::CodeDecision::kSame));
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "a");
  Sleep(Against("c", 80, 100, nights::CodeDecision::kFaster));
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "c");
  Sleep(Against("d", 90, 80, nights::CodeDecision::kUnclear));
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "c");
}

TEST_F(NightTest, ARegressionThatNobodyChangesIsAcceptedAfterTwoWeeks) {
  Sleep(Input("a", 100));
  Sleep(Against("b", 120, 100, nights::CodeDecision::kSlower), {"commit-b", ""});
  int nights = 0;
  while (nights::ReferenceRevisionOf(history, key)->slice == "a" && nights < 50) {
    EXPECT_TRUE(Sleep(Against("b", 120, 100, nights::CodeDecision::kSlower)).reported.empty());
    ++nights;
  }
  EXPECT_EQ(nights, nights::kAcceptAfterNights);
  EXPECT_TRUE(history.Open().empty());
  EXPECT_EQ(history.findings.back().state, nights::FindingState::kAccepted);
  EXPECT_EQ(Sleep(Input("b", 120)).verdict.state, nights::NightState::kSame);
}

TEST_F(NightTest, ADriverThatCostsTimeIsNamedOnceAndRecovers) {
  Steady(20, "a", 100);
  key.driver = "580.1";
  EXPECT_TRUE(Sleep(Input("a", 106)).reported.empty());  // a single run
  const nights::NightOutcome second = Sleep(Input("a", 106.2));
  ASSERT_EQ(second.reported.size(), 1u);
  EXPECT_EQ(second.reported[0].cause, nights::Cause::kDriver);
  EXPECT_EQ(second.reported[0].from, "driver 575.1");
  EXPECT_EQ(second.reported[0].to, "driver 580.1");
  EXPECT_EQ(second.verdict.state, nights::NightState::kDrift);
  Steady(20, "a", 106);
  EXPECT_EQ(history.Open().size(), 1u);
  key.driver = "581.0";
  Sleep(Input("a", 100));
  EXPECT_TRUE(Sleep(Input("a", 100)).reported.empty());
  EXPECT_TRUE(history.Open().empty());
  EXPECT_EQ(history.findings.back().state, nights::FindingState::kRecovered);
}

TEST_F(NightTest, CausesOfTheSurroundings) {
  const struct {
    const char *driver, *toolkit;
    nights::Cause cause;
  } rows[] = {{"580.1", "NVRTC 12.9", nights::Cause::kDriver},
              {"575.1", "NVRTC 13.0", nights::Cause::kToolkit},
              {"580.1", "NVRTC 13.0", nights::Cause::kDriverOrToolkit},
              {"575.1", "NVRTC 12.9", nights::Cause::kUnknown}};
  for (const auto& row : rows) {
    history = {};
    key.driver = "575.1";
    key.toolkit = "NVRTC 12.9";
    Steady(15, "a", 100);
    key.driver = row.driver;
    key.toolkit = row.toolkit;
    Sleep(Input("a", 110));
    nights::NightInput input = Input("a", 110);
    input.present[0].mhz = 1700;
    const nights::NightOutcome outcome = Sleep(input);
    ASSERT_EQ(outcome.reported.size(), 1u) << Name(row.cause);
    EXPECT_EQ(outcome.reported[0].cause, row.cause);
    EXPECT_EQ(outcome.reported[0].message.find("the clock changed") != std::string::npos,
              row.cause == nights::Cause::kUnknown)
        << outcome.reported[0].message;
  }
}

// The driver changes in the same run as the code: the pair does not show it, the reference's own times do.
TEST_F(NightTest, TheReferenceCarriesTheHistoryOverAChangeOfTheCode) {
  Steady(20, "a", 100);
  key.driver = "580.1";
  EXPECT_TRUE(Sleep(Against("b", 107, 107, nights::CodeDecision::kSame)).reported.empty());
  const nights::NightOutcome outcome = Sleep(Against("b", 107, 107, nights::CodeDecision::kSame));
  ASSERT_EQ(outcome.reported.size(), 1u);
  EXPECT_EQ(outcome.reported[0].cause, nights::Cause::kDriver);
}

TEST_F(NightTest, WhatCannotBeTimed) {
  Sleep(Input("a", 100));
  nights::NightInput broken = Input("b", 100);
  broken.present.clear();
  broken.failure = std::string(2000, 'x') + "\xc3\xa9";
  const nights::NightOutcome failed = Sleep(broken);
  EXPECT_EQ(failed.verdict.state, nights::NightState::kFailed);
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "a");
  nights::NightInput gone = Input("c", 100);
  gone.reference_error = "another signature";
  EXPECT_EQ(Sleep(gone).verdict.state, nights::NightState::kFirst);
  EXPECT_EQ(nights::ReferenceRevisionOf(history, key)->slice, "c");
}

TEST_F(NightTest, ModelledTimesNeedOneNight) {
  key = {"sim:h200", "NVIDIA H200", "", "NVRTC 12.9", "model-1 0.1.0"};
  const auto modelled = [&](double us) {
    nights::NightInput input = Input("a", us);
    input.modelled = true;
    input.present[0].log_error = 0;
    return input;
  };
  for (int i = 0; i < 8; ++i) Sleep(modelled(100));
  key.toolkit = "NVRTC 13.0";
  const nights::NightOutcome outcome = Sleep(modelled(110));
  ASSERT_EQ(outcome.reported.size(), 1u);
  EXPECT_EQ(outcome.reported[0].cause, nights::Cause::kToolkit);
  EXPECT_TRUE(outcome.reported[0].modelled);
}

}  // namespace
}  // namespace warpwright
