#include "agents/planner.h"

#include <gtest/gtest.h>

#include "agents/plan_json.h"

namespace warpwright {
namespace {

skills::MethodCard Card(std::vector<skills::MethodParameter> parameters) {
  skills::MethodCard card;
  card.id = "m";
  card.transform = "m";
  card.intent = "do it";
  card.parameters = std::move(parameters);
  return card;
}

TEST(ParameterSets, StartsWithTheDefaultAndSweepsOneAtATime) {
  const skills::MethodCard card = Card({{"mode", {"warp", "block"}, ""}, {"threads", {"256", "512"}, ""}});
  const auto sets = agents::ParameterSets(card, {}, 10);
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[0], (core::Parameters{{"mode", "warp"}, {"threads", "256"}}));
  EXPECT_EQ(sets[1], (core::Parameters{{"mode", "block"}, {"threads", "256"}}));
  EXPECT_EQ(sets[2], (core::Parameters{{"mode", "warp"}, {"threads", "512"}}));
  EXPECT_EQ(sets[3], (core::Parameters{{"mode", "block"}, {"threads", "512"}}));
  EXPECT_EQ(agents::ParameterSets(card, {}, 2).size(), 2u);
  EXPECT_EQ(agents::ParameterSets(Card({}), {}, 5), std::vector<core::Parameters>{core::Parameters{}});
}

TEST(ParameterSets, WhatExperienceFoundComesFirstUnlessTheCardForbidsIt) {
  const skills::MethodCard card = Card({{"threads", {"256", "512"}, ""}});
  EXPECT_EQ(agents::ParameterSets(card, {{{"threads", "512"}}}, 10)[0], (core::Parameters{{"threads", "512"}}));
  EXPECT_EQ(agents::ParameterSets(card, {{{"threads", "4096"}}}, 10)[0], (core::Parameters{{"threads", "256"}}));
}

class PlannerTest : public ::testing::Test {
 protected:
  skills::MethodCard first = Card({}), second = Card({});
  skills::MatchResult match;
  agents::ExtractedFeatures features;
  void SetUp() override {
    first.id = "first";
    second.id = "second";
    first.expected = {{"dram_throughput_pct", true, 2}};
    match.position = "10 % of the roofline";
    match.bottlenecks = {{"latency", "Exposed latency", "memory", 0.9, true, "latency_pct = 80 %"}};
    match.methods = {{&first, 0.8, 0.5, {"one_thread_per_row = 1"}, {}}, {&second, 0.5, 0.4, {"x"}, {}}};
    features.kernel = "ns::k";
  }
  static memory::GradedExperience Sample(const std::string& method, double log_gain) {
    memory::GradedExperience sample;
    sample.grade = memory::MatchGrade::kExact;
    sample.experience.method = method;
    sample.experience.outcome = core::VerdictKind::kMeasured;
    sample.experience.log_gain = log_gain;
    return sample;
  }
};

TEST_F(PlannerTest, FollowsThePolicyWithoutExperienceAndCitesItsEvidence) {
  const auto plan = std::get<core::Plan>(agents::MakePlan(features, match, {}, true));
  EXPECT_EQ(plan.method, "first");
  EXPECT_EQ(plan.kernel, "ns::k");
  EXPECT_EQ(plan.bottleneck, "latency");
  ASSERT_EQ(plan.evidence.size(), 3u);
  EXPECT_EQ(plan.evidence[1], "latency_pct = 80 %");
  EXPECT_NE(plan.why.find("[2][3]"), std::string::npos) << plan.why;
  EXPECT_EQ(plan.expected, (std::vector<core::Prediction>{{"dram_throughput_pct", 1, 2}}));
}

TEST_F(PlannerTest, MeasuredGainsOvertakeTheOrder) {
  memory::ExperienceMatches experience;
  for (int i = 0; i < 8; ++i) {
    experience.samples.push_back(Sample("first", 0));
    experience.samples.push_back(Sample("second", 1.0));
  }
  EXPECT_EQ(std::get<core::Plan>(agents::MakePlan(features, match, experience, true)).method, "second");
}

TEST_F(PlannerTest, SaysWhyThereIsNoPlan) {
  match.methods.clear();
  match.vetoed = {{"first", skills::VetoedMethod::Kind::kExcluded, "gave 1.00x in round 2"}};
  const auto none = std::get<agents::NoPlan>(agents::MakePlan(features, match, {}, true));
  EXPECT_NE(none.reason.find("first: gave 1.00x"), std::string::npos);
  match.at_roofline = skills::AtRoofline{95, "95 % of the roofline"};
  EXPECT_EQ(std::get<agents::NoPlan>(agents::MakePlan(features, match, {}, true)).reason, "95 % of the roofline");
}

TEST_F(PlannerTest, PlansSurviveTheTrajectory) {
  const auto plan = std::get<core::Plan>(agents::MakePlan(features, match, {}, true));
  const auto again = agents::DecodePlan(agents::EncodePlan(plan));
  ASSERT_TRUE(again);
  EXPECT_EQ(agents::EncodePlan(*again), agents::EncodePlan(plan));
  EXPECT_FALSE(agents::DecodePlan("{"));
  EXPECT_FALSE(agents::DecodePlan("{}"));
}

}  // namespace
}  // namespace warpwright
