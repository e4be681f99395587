// A verdict does not depend on the seed where the original has a form: three of the fifty seeds of
// tests/bench/seeds_bench.cpp. With the float64 shadow alone it does still: there the scale is one run of the original.
#include <gtest/gtest.h>

#include "tests/support/kernel_pairs.h"

namespace warpwright {
namespace {

class Seeds : public ::testing::TestWithParam<testing::Truth> {};

TEST_P(Seeds, DoNotDecide) {
  int honest = 0, wrong = 0;
  for (const testing::KernelPair& pair : testing::KernelPairs()) {
    if (pair.needs_form && GetParam() != testing::Truth::kForm) continue;
    (pair.honest ? honest : wrong) += 1;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const auto judged = testing::JudgePair(pair, GetParam(), seed);
      ASSERT_TRUE(judged) << pair.name << ": " << judged.error().Format();
      EXPECT_EQ(judged->truth, GetParam() == testing::Truth::kForm ? "float64 from the form" : "float64 shadow")
          << pair.name;
      EXPECT_EQ(core::Passed(judged->verdict), pair.honest)
          << pair.name << ", seed " << seed << ": " << core::VerdictMessage(judged->verdict);
    }
  }
  EXPECT_GE(honest, 20);
  EXPECT_GE(wrong, 12);
}
INSTANTIATE_TEST_SUITE_P(Judge, Seeds, ::testing::Values(testing::Truth::kForm), [](const auto& info) {
  return std::string(info.param == testing::Truth::kForm ? "Form" : "Shadow");
});

}  // namespace
}  // namespace warpwright
