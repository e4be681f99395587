#include "nights/night_timer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace warpwright {
namespace {

// A device on which a source takes the microseconds given in its text.
class Stopwatch final : public core::Evaluator {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef&) override {
    return Fail(ErrorCode::kUnsupported, "not asked for");
  }
  Result<core::RewriteOutcome> Rewrite(const core::RewriteRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not asked for");
  }
  Result<core::SpliceOutcome> Splice(const core::SpliceRequest&) override {
    return Fail(ErrorCode::kUnsupported, "not asked for");
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    ++executed;
    if (request.source.text == "broken") return core::ExecuteOutcome(core::CompileFailed{"k.cu:1: error: no\nmore"});
    core::Executed run;
    run.time_us = std::stod(request.source.text);
    return core::ExecuteOutcome(run);
  }
  Result<core::TimeOutcome> Time(const core::TimeRequest& request) override {
    requests.push_back(request);
    if (request.original.text == "broken" || request.candidate.text == "broken")
      return core::TimeOutcome(core::Refused{core::Check::kRecord, "no such entry", {}, 0});
    const base::CounterRandom random(request.options.seed, 1);
    core::Timed timed;
    timed.launches_per_sample = 3;
    for (int block = 0; block < request.options.blocks; ++block)
      for (int i = 0; i < request.options.pairs_per_block; ++i) {
        core::TimedPair pair;
        pair.block = request.options.first_block + block;
        const auto noise = [&](uint64_t at) { return 1 + 0.004 * (random.Uniform(at) - 0.5); };
        const uint64_t index = 2 * (static_cast<uint64_t>(pair.block) * 100 + i);
        pair.original_us = std::stod(request.original.text) * noise(index);
        pair.candidate_us = std::stod(request.candidate.text) * noise(index + 1) * (starts == 0 ? lucky : 1);
        pair.original_mhz = pair.candidate_mhz = 1980;
        timed.pairs.push_back(pair);
      }
    return core::TimeOutcome(timed);
  }
  std::vector<core::TimeRequest> requests;
  int executed = 0, starts = 0;
  double lucky = 1;  // what the first process adds to the candidate
};

core::KernelSpec Spec() {
  core::KernelSpec spec;
  spec.name = spec.entry = "k";
  for (const char* name : {"sim", "both", "gpu", "unweighted"}) {
    core::Case c;
    c.name = name;
    if (c.name == "sim") c.on = {core::DeviceKind::kSim};
    if (c.name == "gpu") c.on = {core::DeviceKind::kCuda};
    if (c.name == "sim" || c.name == "unweighted") c.weight = 0;
    spec.cases.push_back(c);
  }
  return spec;
}
core::SourceRef Source(const std::string& text) { return {"/" + text, "k.cu", text}; }
nights::NightTimer Timer(Stopwatch& device, const std::string& name) {
  nights::NightTimerOptions options;
  options.device = name;
  options.secret_seed = 5;
  options.fresh_worker = [&device] { ++device.starts; };
  return nights::NightTimer(device, options);
}
std::vector<std::string> Names(const nights::NightTimes& times) {
  std::vector<std::string> names;
  for (const auto& time : times) names.push_back(time.name);
  return names;
}

TEST(NightTimer, TimesTheCasesThatCountOnTheDevice) {
  Stopwatch device;
  const auto gpu = Timer(device, "cuda:0").Measure(Spec(), Source("100"));
  ASSERT_TRUE(gpu);
  const auto& times = std::get<nights::NightTimes>(*gpu);
  EXPECT_EQ(Names(times), (std::vector<std::string>{"both", "gpu"}));
  EXPECT_NEAR(times[0].median_us, 100, 0.2);
  EXPECT_NEAR(times[0].log_mean, std::log(100), 0.001);
  EXPECT_GT(times[0].log_error, 0);
  EXPECT_LT(times[0].log_error, 0.001);
  EXPECT_EQ(times[0].samples, 60);
  EXPECT_EQ(times[0].mhz, 1980);
  const auto simulated = Timer(device, "sim:h200").Measure(Spec(), Source("7"));
  EXPECT_EQ(Names(std::get<nights::NightTimes>(*simulated)), std::vector<std::string>{"both"});
}

TEST(NightTimer, ADecisionNeedsNoMoreLooksThanItTakesAndSlowerASecondProcess) {
  struct Row {
    const char *reference, *present;
    nights::CodeDecision decision;
    int starts;
    size_t requests;
  };
  for (const Row& row :
       {Row{"100", "100", nights::CodeDecision::kSame, 0, 2}, Row{"100", "110", nights::CodeDecision::kSlower, 1, 4},
        Row{"110", "100", nights::CodeDecision::kFaster, 0, 2},
        Row{"100", "103", nights::CodeDecision::kUnclear, 0, 6}}) {
    Stopwatch device;
    const auto result = Timer(device, "cuda:0").Compare(Spec(), Source(row.reference), Source(row.present));
    ASSERT_TRUE(result);
    const auto& comparison = std::get<nights::NightComparison>(*result);
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
  EXPECT_EQ(std::get<nights::NightComparison>(*result).judgement.decision, nights::CodeDecision::kSame);
  EXPECT_EQ(device.starts, 1);
}

TEST(NightTimer, SaysWhichRevisionCannotBeRun) {
  for (const char* name : {"cuda:0", "sim:h200"}) {
    Stopwatch device;
    nights::NightTimer timer = Timer(device, name);
    const auto reference = timer.Compare(Spec(), Source("broken"), Source("100"));
    ASSERT_TRUE(std::holds_alternative<nights::NotRunnable>(*reference)) << name;
    EXPECT_TRUE(std::get<nights::NotRunnable>(*reference).reference);
    EXPECT_FALSE(std::get<nights::NotRunnable>(*reference).reason.empty());
    const auto present = timer.Compare(Spec(), Source("100"), Source("broken"));
    EXPECT_FALSE(std::get<nights::NotRunnable>(*present).reference) << name;
    EXPECT_TRUE(std::holds_alternative<nights::NotRunnable>(*timer.Measure(Spec(), Source("broken"))));
  }
}

TEST(NightTimer, ModelledTimesAreExactAndAskedForOnce) {
  Stopwatch device;
  nights::NightTimer timer = Timer(device, "sim:h200");
  for (int i = 0; i < 3; ++i) {
    const auto result = timer.Compare(Spec(), Source("100"), Source("110"));
    const auto& judgement = std::get<nights::NightComparison>(*result).judgement;
    EXPECT_EQ(judgement.decision, nights::CodeDecision::kSlower);
    EXPECT_EQ(judgement.lower, judgement.upper);
    EXPECT_NEAR(judgement.log_ratio, std::log(1.1), 1e-12);
  }
  EXPECT_EQ(device.executed, 2);
  core::KernelSpec none = Spec();
  for (core::Case& c : none.cases) c.on = {core::DeviceKind::kCuda};
  EXPECT_TRUE(std::holds_alternative<nights::NotRunnable>(*timer.Measure(none, Source("5"))));
}

}  // namespace
}  // namespace warpwright
