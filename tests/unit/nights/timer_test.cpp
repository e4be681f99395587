#include "nights/night_timer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace warpwright {
namespace {

// A device on which a source takes the microseconds that its text says.
class Stopwatch final : public Evaluator {
 public:
  Result<Inspection> Inspect(const SourceRef&) override { return Fail(ErrorCode::kUnsupported, "not asked for"); }
  Result<RewriteOutcome> Rewrite(const RewriteRequest&) override { return Fail(ErrorCode::kUnsupported, "not asked for"); }
  Result<SpliceOutcome> Splice(const SpliceRequest&) override { return Fail(ErrorCode::kUnsupported, "not asked for"); }
  Result<ExecuteOutcome> Execute(const ExecuteRequest& request) override {
    ++executed;
    if (request.source.text == "broken") return ExecuteOutcome(CompileFailed{"k.cu:1: error: no\nmore"});
    Executed run;
    run.time_us = std::stod(request.source.text);
    return ExecuteOutcome(run);
  }
  Result<TimeOutcome> Time(const TimeRequest& request) override {
    requests.push_back(request);
    if (request.original.text == "broken" || request.candidate.text == "broken") return TimeOutcome(Refused{"record", "no such entry", {}, 0});
    const CounterRandom random(request.options.seed, 1);
    Timed timed;
    timed.launches_per_sample = 3;
    for (int block = 0; block < request.options.blocks; ++block)
      for (int i = 0; i < request.options.pairs_per_block; ++i) {
        TimedPair pair;
        pair.block = request.options.first_block + block;
        const auto noise = [&](uint64_t at) { return 1 + 0.004 * (random.Uniform(at) - 0.5); };
        const auto index = static_cast<uint64_t>(2 * (pair.block * 100 + i));
        pair.original_us = std::stod(request.original.text) * noise(index);
        pair.candidate_us = std::stod(request.candidate.text) * noise(index + 1) * (starts == 0 ? lucky : 1);
        pair.original_mhz = pair.candidate_mhz = 1980;
        timed.pairs.push_back(pair);
      }
    return TimeOutcome(timed);
  }
  std::vector<TimeRequest> requests;
  int executed = 0, starts = 0;
  double lucky = 1;  // what the first process adds to the candidate
};

KernelSpec Spec() {
  KernelSpec spec;
  spec.name = spec.entry = "k";
  for (const char* name : {"sim", "both", "gpu", "unweighted"}) {
    Case c;
    c.name = name;
    if (c.name == "sim") c.on = {DeviceKind::kSim};
    if (c.name == "gpu") c.on = {DeviceKind::kCuda};
    if (c.name == "sim" || c.name == "unweighted") c.weight = 0;
    spec.cases.push_back(c);
  }
  return spec;
}
SourceRef Source(const std::string& text) { return {"/" + text, "k.cu", text}; }
NightTimer Timer(Stopwatch& device, const std::string& name) {
  NightTimerOptions options;
  options.device = name;
  options.secret_seed = 5;
  options.fresh_worker = [&device] { ++device.starts; };
  return NightTimer(device, options);
}
std::vector<std::string> Names(const NightTimes& times) {
  std::vector<std::string> names;
  for (const auto& time : times) names.push_back(time.name);
  return names;
}

TEST(NightTimer, TimesTheCasesThatCountOnTheDevice) {
  Stopwatch device;
  const auto gpu = Timer(device, "cuda:0").Measure(Spec(), Source("100"));
  ASSERT_TRUE(gpu);
  const auto& times = std::get<NightTimes>(*gpu);
  EXPECT_EQ(Names(times), (std::vector<std::string>{"both", "gpu"}));
  EXPECT_NEAR(times[0].median_us, 100, 0.2);
  EXPECT_NEAR(times[0].log_mean, std::log(100), 0.001);
  EXPECT_GT(times[0].log_error, 0);
  EXPECT_LT(times[0].log_error, 0.001);
  EXPECT_EQ(times[0].samples, 60);
  EXPECT_EQ(times[0].mhz, 1980);
  const auto simulated = Timer(device, "sim:h200").Measure(Spec(), Source("7"));
  EXPECT_EQ(Names(std::get<NightTimes>(*simulated)), std::vector<std::string>{"both"});
}

TEST(NightTimer, ADecisionNeedsNoMoreLooksThanItTakesAndSlowerASecondProcess) {
  struct Row {
    const char *reference, *present;
    CodeDecision decision;
    int starts;
    size_t requests;
  };
  for (const Row& row : {Row{"100", "100", CodeDecision::kSame, 0, 2}, Row{"100", "110", CodeDecision::kSlower, 1, 4}, Row{"110", "100", CodeDecision::kFaster, 0, 2},
                         Row{"100", "103", CodeDecision::kUnclear, 0, 6}}) {
    Stopwatch device;
    const auto result = Timer(device, "cuda:0").Compare(Spec(), Source(row.reference), Source(row.present));
    ASSERT_TRUE(result);
    const auto& comparison = std::get<NightComparison>(*result);
    EXPECT_EQ(comparison.judgement.decision, row.decision) << row.present;
    EXPECT_NEAR(comparison.judgement.log_ratio, std::log(std::stod(row.present) / std::stod(row.reference)), 0.002);
    EXPECT_EQ(device.starts, row.starts);
    EXPECT_EQ(device.requests.size(), row.requests);
    EXPECT_EQ(device.requests.back().options.launches_per_sample, row.requests == 2 || row.starts == 1 ? 0 : 3);
  }
}

TEST(NightTimer, WhatTheFirstProcessAloneFoundIsNoRegression) {
  Stopwatch device;
  device.lucky = 1.2;
  const auto result = Timer(device, "cuda:0").Compare(Spec(), Source("100"), Source("100"));
  EXPECT_EQ(std::get<NightComparison>(*result).judgement.decision, CodeDecision::kSame);
  EXPECT_EQ(device.starts, 1);
}

TEST(NightTimer, SaysWhichRevisionCannotBeRun) {
  for (const char* name : {"cuda:0", "sim:h200"}) {
    Stopwatch device;
    NightTimer timer = Timer(device, name);
    const auto reference = timer.Compare(Spec(), Source("broken"), Source("100"));
    ASSERT_TRUE(std::holds_alternative<NotRunnable>(*reference)) << name;
    EXPECT_TRUE(std::get<NotRunnable>(*reference).reference);
    EXPECT_FALSE(std::get<NotRunnable>(*reference).reason.empty());
    const auto present = timer.Compare(Spec(), Source("100"), Source("broken"));
    EXPECT_FALSE(std::get<NotRunnable>(*present).reference) << name;
    EXPECT_TRUE(std::holds_alternative<NotRunnable>(*timer.Measure(Spec(), Source("broken"))));
  }
}

TEST(NightTimer, ModelledTimesAreExactAndAskedForOnce) {
  Stopwatch device;
  NightTimer timer = Timer(device, "sim:h200");
  for (int i = 0; i < 3; ++i) {
    const auto result = timer.Compare(Spec(), Source("100"), Source("110"));
    const auto& judgement = std::get<NightComparison>(*result).judgement;
    EXPECT_EQ(judgement.decision, CodeDecision::kSlower);
    EXPECT_EQ(judgement.lower, judgement.upper);
    EXPECT_NEAR(judgement.log_ratio, std::log(1.1), 1e-12);
  }
  EXPECT_EQ(device.executed, 2);
  KernelSpec none = Spec();
  for (Case& c : none.cases) c.on = {DeviceKind::kCuda};
  EXPECT_TRUE(std::holds_alternative<NotRunnable>(*timer.Measure(none, Source("5"))));
}

}  // namespace
}  // namespace warpwright
