#include "nights/bisect.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace warpwright {
namespace {

// Versions with known times; those in `broken` cannot be run.
struct Versions {
  std::vector<double> us;
  std::set<size_t> broken;
  std::vector<std::pair<size_t, size_t>> asked;

  nights::PairProbe Of(size_t older, size_t newer) const {
    const double ratio = std::log(us[newer] / us[older]);
    return {ratio, ratio - 0.001, ratio + 0.001, ratio > std::log(1.03)};
  }
  nights::BisectResult Run() {
    const auto result = nights::Bisect(us.size(), Of(0, us.size() - 1),
                                       [&](size_t older, size_t newer) -> Result<std::optional<nights::PairProbe>> {
                                         asked.emplace_back(older, newer);
                                         if (broken.contains(older) || broken.contains(newer))
                                           return std::optional<nights::PairProbe>();
                                         return std::optional<nights::PairProbe>(Of(older, newer));
                                       });
    EXPECT_TRUE(result);
    EXPECT_EQ(static_cast<size_t>(result->timings), asked.size());
    EXPECT_LE(result->timings, nights::MaxTimings(us.size()));
    EXPECT_EQ(std::set(asked.begin(), asked.end()).size(), asked.size()) << "a pair was timed twice";
    return *result;
  }
};

TEST(Bisect, FindsEveryStepWithinTheTimingsItMayUse) {
  for (size_t n = 2; n <= 70; ++n)
    for (size_t step = 1; step < n; ++step) {
      Versions versions;
      for (size_t i = 0; i < n; ++i) versions.us.push_back(i < step ? 100 : 110);
      const nights::BisectResult result = versions.Run();
      ASSERT_EQ(result.first_bad, step) << n;
      ASSERT_TRUE(result.exact && result.confirmed) << n << " " << step;
      ASSERT_LE(result.timings, static_cast<int>(std::ceil(std::log2(n))) + 2);
      ASSERT_NEAR(result.step.log_ratio, std::log(1.1), 1e-9);
    }
}

TEST(Bisect, TwoVersionsNeedNoFurtherTiming) {
  Versions versions{{100, 120}, {}, {}};
  EXPECT_EQ(versions.Run().timings, 0);
}

TEST(Bisect, OfSeveralStepsTheOneThatCrossesHalfOfTheLoss) {
  Versions versions{{100, 101, 101, 114, 117, 120}, {}, {}};
  const nights::BisectResult result = versions.Run();
  EXPECT_EQ(result.first_bad, 3u);
  EXPECT_TRUE(result.confirmed);
  // A loss of equal small steps has no confirmed first bad commit.
  Versions creeping;
  for (int i = 0; i <= 10; ++i) creeping.us.push_back(100 * std::exp(0.01 * i));
  EXPECT_FALSE(creeping.Run().confirmed);
}

TEST(Bisect, VersionsThatDoNotRunArePassedOver) {
  for (const size_t broken : {1, 2, 3, 5, 6}) {
    Versions versions{{100, 100, 100, 100, 110, 110, 110, 110}, {broken}, {}};
    const nights::BisectResult result = versions.Run();
    EXPECT_EQ(result.first_bad, 4u) << broken;
    EXPECT_EQ(result.exact, broken != 3) << broken;
    EXPECT_TRUE(result.confirmed) << broken;
  }
  // A version that cannot be run is not tried again when the range shrinks.
  Versions many{{100, 100, 100, 100, 100, 100, 100, 110, 110}, {4, 5}, {}};
  EXPECT_EQ(many.Run().last_good, 6u);  // the budget ends there
  Versions none{{100, 100, 100, 110}, {1, 2}, {}};
  const nights::BisectResult range = none.Run();
  EXPECT_EQ(range.last_good, 0u);
  EXPECT_EQ(range.first_bad, 3u);
  EXPECT_FALSE(range.exact);
}

TEST(Bisect, AnErrorOfOursEndsIt) {
  const auto result = nights::Bisect(
      5, {0.1, 0.1, 0.1, true},
      [](size_t, size_t) -> Result<std::optional<nights::PairProbe>> { return Fail(ErrorCode::kWorkerDied, "gone"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kWorkerDied);
}

}  // namespace
}  // namespace warpwright
