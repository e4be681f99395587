#include "core/expression.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

const std::map<std::string, int64_t> kVariables = {{"N", 1000}, {"C", 33}, {"zero", 0}};

struct ValueRow {
  const char* text;
  int64_t value;
};
class ExpressionValues : public testing::TestWithParam<ValueRow> {};

TEST_P(ExpressionValues, Evaluate) {
  const auto expression = core::Expression::Parse(GetParam().text);
  ASSERT_TRUE(expression) << expression.error().message;
  const auto value = expression->Evaluate(kVariables);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(*value, GetParam().value);
}
INSTANTIATE_TEST_SUITE_P(All, ExpressionValues,
                         testing::Values(ValueRow{"7", 7}, ValueRow{"N", 1000}, ValueRow{" N * C + 1 ", 33001},
                                         ValueRow{"N - C - 1", 966}, ValueRow{"2 + 3 * 4", 14},
                                         ValueRow{"(2 + 3) * 4", 20}, ValueRow{"-N", -1000}, ValueRow{"7 - -2", 9},
                                         ValueRow{"N / C", 30}, ValueRow{"N % C", 10}, ValueRow{"-7 / 2", -3},
                                         ValueRow{"100 / 10 / 5", 2}, ValueRow{"ceil_div(N, 256)", 4},
                                         ValueRow{"ceil_div(1024, 256)", 4}, ValueRow{"ceil_div(0, 8)", 0},
                                         ValueRow{"ceil_div(-7, 2)", -3}, ValueRow{"min(N, C)", 33},
                                         ValueRow{"max(min(N, 5), 2 + 1)", 5}));

struct BadRow {
  const char* text;
  const char* message;
};
class ExpressionErrors : public testing::TestWithParam<BadRow> {};

TEST_P(ExpressionErrors, AreSaid) {
  const auto expression = core::Expression::Parse(GetParam().text);
  std::string message;
  if (!expression) {
    message = expression.error().message;
  } else {
    const auto value = expression->Evaluate(kVariables);
    ASSERT_FALSE(value);
    message = value.error().message;
  }
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}
INSTANTIATE_TEST_SUITE_P(
    All, ExpressionErrors,
    testing::Values(BadRow{"", "expected a value"}, BadRow{"N +", "expected a value"}, BadRow{"(N", "expected ')'"},
                    BadRow{"N C", "expected an operator"}, BadRow{"floor(N, 2)", "unknown function 'floor'"},
                    BadRow{"min(N)", "expected ','"}, BadRow{"M", "'M' is not an integer scalar"},
                    BadRow{"N / zero", "division by zero"}, BadRow{"N % zero", "division by zero"},
                    BadRow{"9223372036854775807 + 1", "overflow"}, BadRow{"N * 9223372036854775807", "overflow"},
                    BadRow{"92233720368547758070", "64 bits"}, BadRow{"N $ 2", "expected an operator"}));

TEST(Expression, DepthAndLengthAreLimited) {
  EXPECT_FALSE(core::Expression::Parse(std::string(200, '(') + "1" + std::string(200, ')')));
  EXPECT_FALSE(core::Expression::Parse(std::string(400, '-') + "1"));
  EXPECT_FALSE(core::Expression::Parse(std::string(2000, '1')));
}

TEST(Expression, VariablesAreSortedAndUnique) {
  EXPECT_EQ(core::Expression::Parse("max(b, a) * b + 3")->Variables(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace warpwright
