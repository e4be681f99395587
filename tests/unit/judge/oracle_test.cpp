#include "judge/oracle.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_pairs.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

TEST(Oracle, KeepsTheLatestOfTheTrialsOfOneCandidate) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 100);
  FakeEvaluator trusted;
  trusted.Add("original", Twice);
  judge::Oracle oracle(spec, MarkedSource("original"), trusted, {.device = "sim:h200"});
  const auto runs_for = [&](uint64_t seed) {
    const int64_t before = oracle.runs();
    EXPECT_TRUE(oracle.Query({.c = spec.cases[0], .seed = seed}, judge::Depth::kBytes));
    return oracle.runs() - before;
  };
  EXPECT_GT(runs_for(1), 0);
  oracle.SetForOneCandidate(true);
  for (uint64_t seed = 2; seed <= 5; ++seed) EXPECT_GT(runs_for(seed), 0) << seed;
  for (const uint64_t kept : {1, 4, 5}) EXPECT_EQ(runs_for(kept), 0) << kept;
  EXPECT_GT(runs_for(2), 0);
}

// What a shadow refuses because the original was lucky in a row is judged by what roundings may come to.
TEST(Oracle, AsksTheFormForBoundsWhereAShadowToldTheTruth) {
  const testing::KernelPair pair = testing::KernelPairs().front();
  FakeEvaluator trusted;
  trusted.Add("original", pair.original);
  const auto lift = [&]() -> Result<core::LiftOutcome> {
    return core::LiftOutcome(core::Lifted{.computation = pair.form, .shapes = 3, .verified = true});
  };
  judge::Oracle oracle(pair.spec, MarkedSource("original"), trusted,
                       {.device = "sim:h200", .lift = lift, .form_limits = {.steps = 0, .elements = 0}});
  const judge::Trial trial{.c = pair.spec.cases[0], .seed = 1};
  const auto answer = oracle.Query(trial, judge::Depth::kTruth);
  ASSERT_TRUE(answer) << answer.error().message;
  auto known = std::get<std::shared_ptr<const judge::TrialReference>>(*answer);
  EXPECT_EQ(known->references[0].source, judge::TruthSource::kShadow);
  EXPECT_FALSE(known->references[0].has_bounds());
  const auto deeper = oracle.Deepen(trial, known, judge::Depth::kBounds);
  ASSERT_TRUE(deeper) << deeper.error().message;
  const judge::OutputReference& bounded = (*deeper)->references[0];
  EXPECT_EQ(bounded.source, judge::TruthSource::kForm);
  ASSERT_TRUE(bounded.has_bounds());
  EXPECT_GT(bounded.bound[0], 0);
  EXPECT_NEAR(bounded.truth[0], known->references[0].truth[0], 1e-9);
  EXPECT_GT(bounded.honest.rms, 0) << "honest runs belong to it";
}

}  // namespace
}  // namespace warpwright
