// Numbers that follow the shape, as expressions of scalars.
#include "core/size_solver.h"

#include <gtest/gtest.h>

namespace warpwright::core {
namespace {

const std::vector<Sizes> kShapes = {{{"N", 10}, {"C", 6}, {"K", 3}, {"flag", 1}},
                                    {{"N", 7}, {"C", 8}, {"K", 5}, {"flag", 1}},
                                    {{"N", 33}, {"C", 12}, {"K", 2}, {"flag", 1}}};

struct Row {
  const char* text;
};
class SizeSolverFinds : public testing::TestWithParam<Row> {};

// The values of an expression lead to one that has the same values at other shapes as well.
TEST_P(SizeSolverFinds, WhatHasTheValues) {
  const auto truth = Size::Parse(GetParam().text);
  ASSERT_TRUE(truth);
  std::vector<int64_t> values;
  for (const Sizes& sizes : kShapes) values.push_back(truth->Evaluate(sizes).value());
  const auto found = SizeSolver(kShapes, {}).Solve(values);
  ASSERT_TRUE(found);
  for (const Sizes& other : {Sizes{{"N", 41}, {"C", 18}, {"K", 4}, {"flag", 1}}, Sizes{{"N", 64}, {"C", 4}, {"K", 9}}})
    EXPECT_EQ(found->Evaluate(other).value(), truth->Evaluate(other).value()) << found->text();
}
INSTANTIATE_TEST_SUITE_P(All, SizeSolverFinds,
                         testing::Values(Row{"17"}, Row{"N"}, Row{"N + 2"}, Row{"C - 1"}, Row{"N * C"}, Row{"2 * N"},
                                         Row{"3 * N + 1"}, Row{"0 - N"}, Row{"N / 2"}, Row{"0 - (N / 2)"},
                                         Row{"0 - (N * C)"}, Row{"ceil_div(N, 4)"}, Row{"min(N, C)"},
                                         Row{"max(N, C) - 1"}, Row{"N - K"}, Row{"N - K + 1"}, Row{"N + C"},
                                         Row{"N * C * K"}, Row{"C / 2 * N"}, Row{"N * C - 1"}, Row{"N * C * K - 1"},
                                         Row{"N / 4 * 4"}, Row{"ceil_div(N, 4) * 4"}, Row{"(N - 2) * (C - 2)"},
                                         Row{"(N + 1) * (K - 1)"}));

TEST(SizeSolver, PartsThatLeaveNoRestComeFirst) {
  const auto found = SizeSolver({{{"N", 32}}, {{"N", 48}}, {{"N", 64}}}, {}).Solve({2, 3, 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text(), "N / 16");
}

TEST(SizeSolver, ValuesThatNothingHas) { EXPECT_FALSE(SizeSolver(kShapes, {}).Solve({1'000'003, 17, 90'001})); }

TEST(SizeSolver, ExtentsOfArgumentsAreTakenAsTheyStand) {
  const Size hint = Size::Parse("(N + 2 * K - 3) / 2 + 1").value();
  std::vector<int64_t> values;
  for (const Sizes& sizes : kShapes) values.push_back(hint.Evaluate(sizes).value());
  const auto found = SizeSolver(kShapes, {hint}).Solve(values);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text(), hint.text());
}

}  // namespace
}  // namespace warpwright::core
