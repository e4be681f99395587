// What versions and plans are worth, and which version of a pool is worked on.
#include "search/worth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/pool.h"

namespace warpwright {
namespace {

core::CaseMeasurement Modelled(const std::string& name, double us, double weight = 1) {
  core::CaseMeasurement c;
  c.case_name = name;
  c.weight = weight;
  c.time_us = us;
  return c;
}
core::Measured Of(std::vector<core::CaseMeasurement> cases) {
  core::Measured measured;
  measured.cases = std::move(cases);
  return measured;
}
// On a device: so many times faster than the original, give or take `error` (of the logarithm).
core::Measured Timed(double gain, double error, int blocks = 20) {
  core::CaseMeasurement c = Modelled("n", 100 / gain);
  c.timing.emplace();
  c.timing->log_ratio = std::log(gain);
  c.timing->standard_error = error;
  c.timing->blocks = blocks;
  core::Measured measured = Of({c});
  measured.modelled = false;
  return measured;
}

TEST(Worth, OnAModelTheGainIsSure) {
  EXPECT_DOUBLE_EQ(search::SureGain(Of({Modelled("n", 100)}), Of({Modelled("n", 80)})), 1.25);
}

TEST(Worth, OnADeviceABaseIsReplacedByABoundAlone) {
  const core::Measured original = Of({Modelled("n", 100)});
  struct Row {
    core::Measured base, version;
    bool replaces;
    const char* why;
  };
  const Row rows[] = {
      {original, Timed(1.05, 0.01), true, "five times its error"},
      {original, Timed(1.05, 0.04), false, "may be nothing"},
      {original, Timed(1.008, 0.0001), false, "sure, but too small"},
      {Timed(1.5, 0.01), Timed(1.6, 0.01), true, "both errors together are small enough"},
      {Timed(1.5, 0.04), Timed(1.6, 0.01), false, "the base's own error counts"},
      {Timed(1.5, 0.01, 2), Timed(1.6, 0.01, 2), false, "two blocks say little about the error"},
  };
  for (const Row& row : rows) EXPECT_EQ(search::ReplacesBase(original, row.base, row.version), row.replaces) << row.why;
}

TEST(Worth, ACaseIsComparedWithTheOriginalNotWithTheBase) {
  const core::Measured original = Of({Modelled("large", 100, 3), Modelled("small", 100)});
  const core::Measured base = Of({Modelled("large", 60, 3), Modelled("small", 60)});
  EXPECT_TRUE(search::ReplacesBase(original, base, Of({Modelled("large", 40, 3), Modelled("small", 70)})))
      << "slower than the base in a case, and faster than the original";
  EXPECT_FALSE(search::ReplacesBase(original, base, Of({Modelled("large", 30, 3), Modelled("small", 103)})));
}

TEST(Worth, APlanMustPromiseWhatItsTimeIsWorth) {
  const core::Policy policy{.min_speedup = 1.1, .max_rounds = 10, .max_minutes = 10, .max_repairs = 3};
  core::Plan plan;
  plan.variants.resize(6);
  plan.score = 0.005;  // a minute has to promise a tenth of log(1.1) / 10
  EXPECT_TRUE(search::IsWorthItsCost(plan, 0, policy)) << "nobody knows what it costs";
  EXPECT_TRUE(search::IsWorthItsCost(plan, 10, policy));
  EXPECT_FALSE(search::IsWorthItsCost(plan, 60, policy));
  plan.author = "a model";
  EXPECT_TRUE(search::IsWorthItsCost(plan, 60, policy));
}

TEST(Selector, TheLatestGainAndThenNothing) {
  search::Pool pool;
  for (const double us : {100.0, 50.0, 80.0}) {
    search::Base version;
    version.measured = Of({Modelled("n", us)});
    pool.Add(std::move(version));
  }
  EXPECT_EQ(pool.Best(), 1u);
  const auto latest = search::LatestGain();
  EXPECT_EQ(latest->Next(pool), 2u);
  pool.WorkOn(2);
  pool.Exhaust();
  EXPECT_EQ(latest->Next(pool), std::nullopt);
}

TEST(Pool, WhatIsRefusedTakesItsDescendantsAlong) {
  search::Pool pool;
  for (const char* name : {"original", "a", "ab", "abc", "d"}) {
    search::Base version;
    version.candidate.hash = name;
    version.candidate.parent = name[1] == 'b' ? std::string(name).substr(0, std::string(name).size() - 1) : "original";
    version.measured = Of({Modelled("n", 10 - double(pool.size()))});
    pool.Add(std::move(version));
  }
  EXPECT_EQ(pool.Best(), 4u);
  pool.Refuse(4, false);
  EXPECT_EQ(pool.Best(), 3u);
  pool.Refuse(1, true);
  EXPECT_EQ(pool.Best(), std::nullopt);
  EXPECT_EQ(search::LatestGain()->Next(pool), 0u);
  EXPECT_NEAR(pool.LargestGain(), 10.0 / 6, 1e-9);
}

}  // namespace
}  // namespace warpwright
