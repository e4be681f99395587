#include "source/polynomial.h"

#include <gtest/gtest.h>

namespace warpwright {
namespace {

source::Polynomial S(const char* name) { return source::Polynomial::Symbol(name); }
source::Polynomial C(int64_t value) { return source::Polynomial::Constant(value); }

TEST(Polynomial, ArithmeticNormalizes) {
  EXPECT_EQ((S("a") + S("b")) * (S("a") - S("b")), S("a") * S("a") - S("b") * S("b"));
  EXPECT_EQ(S("a") - S("a"), source::Polynomial());
  EXPECT_NE(S("a"), S("b"));
}

TEST(Polynomial, ShowsTermsWithoutOffsets) {
  EXPECT_EQ((C(2) * S("row@12") * S("C") + S("c@7") - C(3)).ToString(), "2*C*row + c - 3");
  EXPECT_EQ(source::Polynomial().ToString(), "0");
  EXPECT_EQ((source::Polynomial() - S("x")).ToString(), "-x");
}

TEST(Polynomial, CoefficientIsTheFactorOfALinearSymbol) {
  const source::Polynomial index = S("row") * S("C") + S("c");
  EXPECT_EQ(index.Coefficient("row"), S("C"));
  EXPECT_EQ(index.Coefficient("c"), C(1));
  EXPECT_EQ(index.Coefficient("z"), source::Polynomial());
  EXPECT_EQ((S("a") * S("a")).Coefficient("a"), std::nullopt);
  EXPECT_EQ(index.Without("row"), S("c"));
}

TEST(Polynomial, SubstitutionExpands) {
  EXPECT_EQ((S("i") * S("C")).Substitute("i", S("r") + C(1)), S("r") * S("C") + S("C"));
}

TEST(Polynomial, ConstantOnlyWithoutSymbols) {
  EXPECT_EQ((C(6) * C(7)).constant(), 42);
  EXPECT_EQ(source::Polynomial().constant(), 0);
  EXPECT_EQ(S("n").constant(), std::nullopt);
}

TEST(Polynomial, OverflowWrapsWithoutUndefinedBehaviour) {
  EXPECT_EQ((C(INT64_MAX) + C(1)).constant(), INT64_MIN);
  EXPECT_EQ((C(INT64_MIN) * C(-1)).constant(), INT64_MIN);
}

}  // namespace
}  // namespace warpwright
