#include "memory/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "tests/unit/memory/samples.h"

namespace warpwright {
namespace {

memory::GradedExperience Sample(const std::string& method, double log_gain,
                                memory::MatchGrade grade = memory::MatchGrade::kExact,
                                core::VerdictKind outcome = core::VerdictKind::kMeasured) {
  memory::Experience e = SampleExperience();
  e.method = method;
  e.log_gain = log_gain;
  e.outcome = outcome;
  e.spread = 0;
  return {e, grade};
}
std::vector<std::string> Names(const std::vector<memory::MethodStatistics>& ranked) {
  std::vector<std::string> names;
  for (const auto& s : ranked) names.push_back(s.method);
  return names;
}

TEST(Statistics, ByHand) {
  const std::vector<memory::GradedExperience> samples = {
      Sample("m", 1.0), Sample("m", 0.5), Sample("m", 0, memory::MatchGrade::kExact, core::VerdictKind::kCompileFailed),
      Sample("other", 9)};
  const memory::MethodStatistics s = memory::Statistics("m", 0.4, samples, {});
  EXPECT_EQ(s.samples, 3u);
  EXPECT_EQ(s.successes, 2u);
  EXPECT_DOUBLE_EQ(s.mean, 0.5);
  EXPECT_DOUBLE_EQ(s.posterior, (3 * 0.4 + 1.5) / 6);
  EXPECT_DOUBLE_EQ(s.success_probability, 3.0 / 5);
  EXPECT_EQ(s.Summary(), "gave 1.65x (3 samples, 2 faster, same kind of kernel)");
  EXPECT_EQ(memory::Statistics("m", 0.4, {}, {}).Summary(), "no samples");
  EXPECT_DOUBLE_EQ(memory::Statistics("m", 0.4, {}, {}).posterior, 0.4);
}

TEST(Statistics, NearerSamplesWeighMore) {
  const double exact = memory::Statistics("m", 0, {Sample("m", 1, memory::MatchGrade::kExact)}, {}).posterior;
  const double similar = memory::Statistics("m", 0, {Sample("m", 1, memory::MatchGrade::kSimilar)}, {}).posterior;
  const double operation = memory::Statistics("m", 0, {Sample("m", 1, memory::MatchGrade::kOperation)}, {}).posterior;
  EXPECT_DOUBLE_EQ(exact, 1.0 / 4);
  EXPECT_DOUBLE_EQ(similar, 0.5 / 3.5);
  EXPECT_DOUBLE_EQ(operation, 0.15 / 3.15);
  memory::StatisticsOptions real;
  real.modelled = false;
  EXPECT_DOUBLE_EQ(memory::Statistics("m", 0, {Sample("m", 1)}, real).posterior, 0.5 / 3.5)
      << "modelled samples for a real device";
}

TEST(Statistics, NoGradeWeighsLessThanTheOneBefore) {
  double last = 0;
  for (const auto grade : {memory::MatchGrade::kOperation, memory::MatchGrade::kSimilar, memory::MatchGrade::kForm,
                           memory::MatchGrade::kExact, memory::MatchGrade::kShape, memory::MatchGrade::kFormExact,
                           memory::MatchGrade::kFormAndShape}) {
    const double posterior = memory::Statistics("m", 0, {Sample("m", 1, grade)}, {}).posterior;
    EXPECT_GE(posterior, last) << memory::Name(grade);
    last = posterior;
  }
}

TEST(Statistics, NoiseLossesAndAbsurditiesAreBounded) {
  memory::GradedExperience noise = Sample("m", 0.05);
  noise.experience.spread = 0.04;
  EXPECT_EQ(memory::Statistics("m", 0, {noise}, {}).successes, 0u) << "a gain below twice its spread";
  EXPECT_DOUBLE_EQ(memory::Statistics("m", 0, {Sample("m", -2)}, {}).mean, 0)
      << "a slower candidate is not taken, so it costs nothing but the try";
  EXPECT_LE(memory::Statistics("m", 0, {Sample("m", 19)}, {}).mean, std::log(1024.0) + 1e-12);
}

TEST(Rank, CardOrderAtFirst) {
  const std::vector<memory::PriorRank> order = {{"a", 0.9}, {"b", 1.5}, {"c", 0.1}, {"d", 0.1}};
  EXPECT_EQ(Names(memory::RankByExperience(order, {}, {})), (std::vector<std::string>{"a", "b", "c", "d"}));
  memory::StatisticsOptions exploring;
  exploring.exploration = 2;
  EXPECT_EQ(Names(memory::RankByExperience(order, {}, exploring)), (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST(Rank, MeasuredGainsTakeOverAsSamplesGrow) {
  const std::vector<memory::PriorRank> order = {{"praised", 1.0}, {"modest", 0.2}};
  std::vector<memory::GradedExperience> samples;
  int switched = -1;
  for (int n = 0; n < 12; ++n) {
    if (switched < 0 && Names(memory::RankByExperience(order, samples, {}))[0] == "modest") switched = n;
    samples.push_back(Sample("praised", 0, memory::MatchGrade::kExact, core::VerdictKind::kWrongResult));
    samples.push_back(Sample("modest", 0.6));
  }
  EXPECT_GE(switched, 1) << "not before anything was measured";
  EXPECT_LE(switched, 5);
}

TEST(Rank, FailuresPushAMethodDown) {
  const std::vector<memory::PriorRank> order = {{"a", 0.5}, {"b", 0.45}};
  std::vector<memory::GradedExperience> samples(
      2, Sample("a", 0, memory::MatchGrade::kExact, core::VerdictKind::kCompileFailed));
  EXPECT_EQ(Names(memory::RankByExperience(order, samples, {}))[0], "b");
}

TEST(Rank, DoesNotDependOnTheOrderOfSamples) {
  const std::vector<memory::PriorRank> order = {{"a", 0.5}, {"b", 0.4}, {"c", 0.3}};
  std::vector<memory::GradedExperience> samples;
  const base::CounterRandom random(3, 0);
  for (uint64_t i = 0; i < 30; ++i)
    samples.push_back(Sample(order[random.Below(2 * i, 3)].method, std::round(8 * random.Uniform(2 * i + 1)) / 8));
  const auto forward = memory::RankByExperience(order, samples, {});
  std::reverse(samples.begin(), samples.end());
  const auto backward = memory::RankByExperience(order, samples, {});
  EXPECT_EQ(Names(forward), Names(backward));
}

TEST(Rank, ExplorationPrefersTheUnknownAmongEquals) {
  const std::vector<memory::PriorRank> order = {{"known", 0.5}, {"unknown", 0.5}};
  const std::vector<memory::GradedExperience> samples(6, Sample("known", 0.5));
  EXPECT_EQ(Names(memory::RankByExperience(order, samples, {}))[0], "known");
  memory::StatisticsOptions exploring;
  exploring.exploration = 1;
  EXPECT_EQ(Names(memory::RankByExperience(order, samples, exploring))[0], "unknown");
}

TEST(Rank, ParameterSetsByTheirMeasuredGain) {
  std::vector<memory::GradedExperience> samples;
  const auto add = [&](const char* block, double gain) {
    memory::GradedExperience s = Sample("launch_retune", gain);
    s.experience.parameters = {{"block_size", block}};
    samples.push_back(s);
  };
  add("128", 0.1), add("256", 0.3), add("512", 0.2), add("256", 0.3);
  const auto ranked = memory::RankParameters("launch_retune", samples, {});
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0].parameters.at("block_size"), "256");
  EXPECT_EQ(ranked[0].samples, 2u);
  EXPECT_EQ(ranked[2].parameters.at("block_size"), "128");
  EXPECT_TRUE(memory::RankParameters("absent", samples, {}).empty());
}

}  // namespace
}  // namespace warpwright
