#include "nights/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace warpwright {
namespace {

constexpr int kHistories = 1000;

// A made-up machine: runs differ by `between`, and each is measured with the error `within`.
struct Machine {
  double between = 0.01, within = 0.002;
  double spoiled = 0;      // share of runs that interference made 3 to 10 % slower
  double correlation = 0;  // of one run with the next
};
class Nights {
 public:
  Nights(const Machine& machine, uint64_t seed) : machine_(machine), random_(seed) {}
  nights::NightPoint Next(double shift = 0) {
    const double fresh = normal_(random_);
    state_ = count_++ == 0
                 ? fresh
                 : machine_.correlation * state_ + std::sqrt(1 - machine_.correlation * machine_.correlation) * fresh;
    double value = std::log(100.0) + shift + machine_.between * state_ + machine_.within * normal_(random_);
    if (uniform_(random_) < machine_.spoiled) value += 0.03 + 0.07 * uniform_(random_);
    return {value, machine_.within};
  }

 private:
  const Machine machine_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double state_ = 0;
  int count_ = 0;
};

// Number of histories of 100 runs without a change in which at least one was called slower.
int FalseAlarms(const Machine& machine, const nights::DriftRules& rules) {
  int alarms = 0;
  for (int h = 0; h < kHistories; ++h) {
    Nights nights(machine, 1000 + h);
    std::vector<nights::NightPoint> points;
    bool alarm = false;
    for (int night = 0; night < 100 && !alarm; ++night) {
      const nights::NightPoint tonight = nights.Next();
      alarm = nights::JudgeDrift(points, tonight, rules).drift == nights::Drift::kSlower;
      points.push_back(tonight);
    }
    alarms += alarm;
  }
  return alarms;
}

// Of histories with `before` steady runs, the number in which the step is found within two runs.
int Found(const Machine& machine, int before, double step) {
  int found = 0;
  for (int h = 0; h < kHistories; ++h) {
    Nights nights(machine, 5000 + h);
    std::vector<nights::NightPoint> points;
    for (int night = 0; night < before; ++night) points.push_back(nights.Next());
    bool alarm = false;
    for (int night = 0; night < 2 && !alarm; ++night) {
      const nights::NightPoint tonight = nights.Next(std::log(step));
      alarm = nights::JudgeDrift(points, tonight, {}).drift == nights::Drift::kSlower;
      points.push_back(tonight);
    }
    found += alarm;
  }
  return found;
}

TEST(Drift, FewerThanOnePercentOfHistoriesWithoutAChangeHaveAnAlarm) {
  nights::DriftRules any;  // nearly without a threshold: the statistics alone must ensure the rate
  any.threshold = 1.0001;
  const struct {
    const char* name;
    Machine machine;
    nights::DriftRules rules;
  } rows[] = {{"usual", {}, {}},
              {"usual, without a threshold", {}, any},
              {"quiet", {0.002, 0.001}, any},
              {"noisy", {0.03, 0.005}, {}},
              {"noise within the nights alone", {0, 0.02}, any},
              {"autocorrelated", {0.01, 0.002, 0, 0.3}, {}}};
  for (const auto& row : rows) {
    const int alarms = FalseAlarms(row.machine, row.rules);
    RecordProperty(row.name, alarms);
    std::printf("%-32s %d of %d histories have a false alarm\n", row.name, alarms, kHistories);
    EXPECT_LT(alarms, kHistories / 100) << row.name;
  }
}

// A run that interference slowed by 3 to 10 % looks like a step in that run; most of these are isolated.
TEST(Drift, SpoiledNightsAreRarelyTakenForAChange) {
  const int alarms = FalseAlarms({0.01, 0.002, 0.01}, {});
  std::printf("%-32s %d of %d histories\n", "1 % of nights spoiled", alarms, kHistories);
  EXPECT_LT(alarms, kHistories / 20);
}

TEST(Drift, AStepOfFivePercentIsFoundWithinTwoNights) {
  const struct {
    const char* name;
    Machine machine;
    int before, at_least;
  } rows[] = {{"1 % between nights, 20 nights", {}, 20, 800},
              {"1 % between nights, 60 nights", {}, 60, 900},
              {"0.5 % between nights, 10 nights", {0.005, 0.001}, 10, 950},
              {"0.5 % between nights, 30 nights", {0.005, 0.001}, 30, 990},
              {"1 %, 5 % of nights spoiled", {0.01, 0.002, 0.05}, 60, 800}};
  for (const auto& row : rows) {
    const int found = Found(row.machine, row.before, 1.05);
    std::printf("%-32s %d of %d found\n", row.name, found, kHistories);
    EXPECT_GE(found, row.at_least) << row.name;
  }
}

TEST(Drift, LessThanTheThresholdIsNotReportedHoweverSure) {
  const Machine quiet{0.0005, 0.0005};
  EXPECT_EQ(Found(quiet, 30, 1.02), 0);
  EXPECT_EQ(Found(quiet, 30, 1.05), kHistories);
}

TEST(Drift, EdgesOfTheRule) {
  std::vector<nights::NightPoint> flat(8, nights::NightPoint{1, 0});
  EXPECT_EQ(nights::JudgeDrift({}, {1, 0}, {}).drift, nights::Drift::kTooFew);
  EXPECT_EQ(nights::JudgeDrift(std::span(flat).first(7), {2, 0}, {}).drift, nights::Drift::kTooFew);
  EXPECT_EQ(nights::JudgeDrift(flat, {1, 0}, {}).drift, nights::Drift::kSteady);
  EXPECT_EQ(nights::JudgeDrift(flat, {1.1, 0}, {}).drift, nights::Drift::kSuspect);  // one run
  nights::DriftRules modelled;
  modelled.noiseless = true;
  EXPECT_EQ(nights::JudgeDrift(flat, {1.1, 0}, modelled).drift, nights::Drift::kSlower);
  flat.push_back({1.1, 0});
  EXPECT_EQ(nights::JudgeDrift(flat, {1.1, 0}, {}).drift,
            nights::Drift::kSlower);  // two; no noise at all: the floor decides
  EXPECT_EQ(nights::JudgeDrift(flat, {1.001, 0}, {}).drift, nights::Drift::kSteady);  // it did not last
  EXPECT_EQ(nights::JudgeDrift(flat, {0.9, 0}, {}).drift,
            nights::Drift::kSuspect);  // and one to each side are not a change
  flat.back() = {0.99, 0};
  EXPECT_EQ(nights::JudgeDrift(flat, {1.1, 0}, {}).drift, nights::Drift::kSuspect);  // however large the mean
  flat.back() = {0.9, 0};
  EXPECT_EQ(nights::JudgeDrift(flat, {0.9, 0}, {}).drift, nights::Drift::kFaster);
  flat.back() = {1, 0};
  EXPECT_EQ(nights::JudgeDrift(flat, {1.02, 0}, {}).drift, nights::Drift::kSteady);  // below the threshold
  EXPECT_EQ(nights::JudgeDrift(flat, {1.1, 0.05}, {}).drift,
            nights::Drift::kSteady);  // the current time itself is uncertain
  // Slow drift is measured against the first runs of the level, not against the last ones.
  std::vector<nights::NightPoint> creeping;
  for (int i = 0; i < 100; ++i) creeping.push_back({1 + 0.0008 * i, 0});
  EXPECT_EQ(nights::JudgeDrift(creeping, {1.08, 0}, {}).drift, nights::Drift::kSlower);
}

TEST(Drift, QnIsTheDeviationOfNormalValuesAndStandsSpoiledOnes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 2);
  for (const size_t n : {5, 8, 12, 30}) {
    double sum = 0;
    for (int i = 0; i < 2000; ++i) {
      std::vector<double> values(n);
      for (double& v : values) v = normal(random);
      sum += nights::QnScale(values);
    }
    EXPECT_NEAR(sum / 2000, 2, 0.06) << n;
  }
  std::vector<double> spoiled(20);
  for (double& v : spoiled) v = normal(random);
  const double clean = nights::QnScale(spoiled);
  for (int i = 0; i < 6; ++i) spoiled[static_cast<size_t>(i)] = 1e6;
  EXPECT_LT(nights::QnScale(spoiled), 4 * clean);
  EXPECT_EQ(nights::QnScale({1}), 0);
}

core::TimingSummary Summary(double log_ratio, double error) {
  core::TimingSummary summary;
  summary.log_ratio = log_ratio;
  summary.standard_error = error;
  summary.blocks = 10;
  summary.pairs = 100;
  return summary;
}

TEST(Code, TheMeanOrOneCaseDecides) {
  core::TimingRules rules;
  rules.min_effect = 0.03;
  const auto judge = [&](const std::vector<core::TimingSummary>& summaries) {
    nights::PairedResult paired;
    std::vector<core::WeightedTiming> weighted;
    for (const auto& summary : summaries) {
      paired.cases.push_back({"case" + std::to_string(paired.cases.size()), 1, summary});
      weighted.push_back({1, summary});
    }
    paired.overall = core::Combine(weighted, rules, 0.01);
    return nights::JudgeCode(paired, 1.03, 0.01);
  };
  EXPECT_EQ(judge({Summary(0, 0.001)}).decision, nights::CodeDecision::kSame);
  EXPECT_EQ(judge({Summary(0.1, 0.001)}).decision, nights::CodeDecision::kFaster);
  EXPECT_EQ(judge({Summary(-0.025, 0.001)}).decision, nights::CodeDecision::kSame);  // certain, and below the threshold
  EXPECT_EQ(judge({Summary(-0.04, 0.02)}).decision, nights::CodeDecision::kUnclear);
  const nights::CodeJudgement slower = judge({Summary(-0.1, 0.001)});
  EXPECT_EQ(slower.decision, nights::CodeDecision::kSlower);
  EXPECT_NEAR(slower.log_ratio, 0.1, 1e-12);
  EXPECT_LT(slower.lower, slower.upper);
  EXPECT_TRUE(slower.worst_case.empty());
  // One case lost what another gained: the mean shows nothing, the case does.
  const nights::CodeJudgement one = judge({Summary(0.1, 0.001), Summary(-0.1, 0.001)});
  EXPECT_EQ(one.decision, nights::CodeDecision::kSlower);
  EXPECT_EQ(one.worst_case, "case1");
  EXPECT_NEAR(one.log_ratio, 0.1, 1e-12);
}

}  // namespace
}  // namespace warpwright
