#include "judge/oracle.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace warpwright
