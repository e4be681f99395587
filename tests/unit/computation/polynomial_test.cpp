#include "core/polynomial.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

core::Polynomial P(const std::string& text) { return core::Polynomial::Of(core::Expression::Parse(text).value()); }

TEST(Polynomial, NormalForm) {
  const struct {
    const char *text, *normal;
  } rows[] = {{"0", "0"},
              {"N", "N"},
              {"C*N - N*C", "0"},
              {"2 + N - 1 + N", "2*N+1"},
              {"(N+1)*(N-1)", "N*N-1"},
              {"-(N - C)", "C-N"},
              {"7/2 + -7/2 + 7%2 + ceil_div(7, 2)", "5"},
              {"N*C/C", "N"},
              {"(4*N+2)/2", "2*N+1"},
              {"(4*N+2)%2", "0"},
              {"(N+1)/2*4", "4*((N+1)/(2))"},
              {"(1+N)%2", "((N+1)%(2))"},
              {"ceil_div(N+N, 4)", "ceil_div(2*N,4)"},
              {"min(N, N+1)", "N"},
              {"max(3, N)", "max(3,N)"},
              {"max(N, 3)", "max(3,N)"},
              {"N/0", "((N)/(0))"}};
  for (const auto& row : rows) {
    EXPECT_EQ(P(row.text).text(), row.normal);
    const auto again = P(row.text).ToExpression();
    ASSERT_TRUE(again) << row.normal;
    EXPECT_EQ(core::Polynomial::Of(*again).text(), row.normal);
  }
  EXPECT_EQ(core::Polynomial::Of(core::Expression()).text(), "0");
}

TEST(Polynomial, Quotients) {
  EXPECT_EQ(P("6*N*C + 3*C").DividedBy(P("3*C"))->text(), "2*N+1");
  EXPECT_EQ(P("N+1").DividedBy(P("N+1"))->text(), "1");
  EXPECT_FALSE(P("N+1").DividedBy(P("2")));
  EXPECT_FALSE(P("N").DividedBy(P("0")));
  EXPECT_EQ(P("6*N+9").Content(), 3);
}

TEST(Polynomial, OverflowAndGrowthMakeItInvalid) {
  const auto large = P("9223372036854775807");
  EXPECT_FALSE((large + P("1")).valid());
  EXPECT_FALSE((large * P("N") * P("2")).valid());
  EXPECT_FALSE((large * P("2") - large * P("2")).valid());
  core::Polynomial sum = P("a+b+c+d+e+f+g+h");
  EXPECT_TRUE(sum.valid());
  EXPECT_FALSE((sum * sum * sum).valid());
  EXPECT_FALSE((sum * sum * sum).ToExpression());
  EXPECT_EQ((P("0") - P("-9223372036854775807")).text(), "9223372036854775807");
}

TEST(Polynomial, Renaming) {
  const auto renamed = core::Polynomial::Of(core::Expression::Parse("ceil_div(N, C)*C").value(),
                                            [](const std::string& name) { return "s_" + name; });
  EXPECT_EQ(renamed.text(), "ceil_div(s_N,s_C)*s_C");
}

}  // namespace
}  // namespace warpwright
