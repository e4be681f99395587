#include "agents/generator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"

namespace warpwright {
namespace {

class GeneratorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (skills::MethodCard* card : {&wide, &tiled}) card->transform = "rewrite_" + card->id;
    match.bottlenecks = {{"latency", "Exposed latency", "memory", 0.9, true, "latency_pct = 80 %"}};
    match.methods = {{&wide, 0.8, 0.5, {}, {}}, {&tiled, 0.5, 0.4, {}, {}}};
  }
  void Sample(const std::string& method, const std::string& parameter, double gain,
              memory::MatchGrade grade = memory::MatchGrade::kExact) {
    memory::GradedExperience sample;
    sample.grade = grade;
    sample.experience.method = method;
    sample.experience.parameters = {{method == "wide" ? "width" : "tile", parameter}};
    sample.experience.outcome = gain > 0 ? core::VerdictKind::kMeasured : core::VerdictKind::kCompileFailed;
    sample.experience.log_gain = gain > 0 ? std::log(gain) : 0;
    experience.samples.push_back(sample);
  }
  static skills::MethodCard Card(const std::string& id, skills::MethodParameter parameter) {
    skills::MethodCard card;
    card.id = id;
    card.parameters = {std::move(parameter)};
    return card;
  }
  std::vector<std::string> Methods(size_t limit = 2) const {
    std::vector<std::string> methods;
    for (const core::Plan& plan : agents::Generate("ns::k", match, experience, limit)) methods.push_back(plan.method);
    return methods;
  }
  skills::MethodCard wide = Card("wide", {"width", {"2", "4", "8"}, ""}),
                     tiled = Card("tiled", {"tile", {"16", "32"}, ""});
  skills::MatchResult match;
  memory::ExperienceMatches experience;
};

TEST(Generator, TheOriginalIsACandidate) {
  const core::Candidate original = agents::Original("float x;\n");
  EXPECT_EQ(original.hash, base::Sha256("float x;\n"));
  EXPECT_EQ(original.text, "float x;\n");
  EXPECT_EQ(original.method, "original");
  EXPECT_TRUE(original.parent.empty());
}

TEST_F(GeneratorTest, WithoutExperienceThereIsNothingElse) { EXPECT_TRUE(Methods().empty()); }

TEST_F(GeneratorTest, TwoSuccessesUnderTheSameKeyMakeAPlanWithTheBestParametersFirst) {
  Sample("wide", "8", 1.2);
  Sample("wide", "4", 2.0);
  const auto plans = agents::Generate("ns::k", match, experience, 2);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].method, "wide");
  EXPECT_EQ(plans[0].transform, "rewrite_wide");
  EXPECT_EQ(plans[0].kernel, "ns::k");
  EXPECT_EQ(plans[0].bottleneck, "latency");
  EXPECT_EQ(plans[0].variants, (std::vector<core::Parameters>{{{"width", "4"}}, {{"width", "2"}}, {{"width", "8"}}}));
  ASSERT_EQ(plans[0].evidence.size(), 1u);
  EXPECT_TRUE(plans[0].evidence[0].starts_with("wide in this state: ")) << plans[0].evidence[0];
  EXPECT_NE(plans[0].why.find("[1]"), std::string::npos);
}

TEST_F(GeneratorTest, OneSuccessOrOneElsewhereIsTooLittle) {
  Sample("wide", "4", 2.0);
  Sample("wide", "4", 2.0, memory::MatchGrade::kSimilar);
  Sample("wide", "4", 0);
  EXPECT_TRUE(Methods().empty());
}

TEST_F(GeneratorTest, MethodsThatTheEvidenceVetoesAreNotProposed) {
  for (int i = 0; i < 3; ++i) Sample("absent", "4", 3);
  EXPECT_TRUE(Methods().empty());
}

TEST_F(GeneratorTest, TheOrderIsThePolicysAndThereIsALimit) {
  for (int i = 0; i < 2; ++i) {
    Sample("tiled", "32", 3.0);
    Sample("wide", "4", 1.5);
  }
  EXPECT_EQ(Methods(), (std::vector<std::string>{"wide", "tiled"}));
  EXPECT_EQ(Methods(1), std::vector<std::string>{"wide"});
}

}  // namespace
}  // namespace warpwright
