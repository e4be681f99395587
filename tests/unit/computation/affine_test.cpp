#include "core/affine.h"

#include <gtest/gtest.h>

#include "tests/support/computation_builder.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions

using core::Affine;

TEST(Affine, Simplifies) {
  EXPECT_EQ(V(1) + V(0) * "2" + V(1) * "-1", V(0) * "2");
  EXPECT_EQ(core::Simplified((V(0) * "4" + At("2*N")) / "2"), V(0) * "2" + At("N"));
  EXPECT_EQ(core::Simplified((V(0) * "4" + At("6")) / "8"), (V(0) * "2" + At("3")) / "4");
  EXPECT_EQ(core::Simplified((V(0) * "N") / "N"), V(0));
  EXPECT_EQ(core::AsVariable((V(3) * "N") / "N"), 3u);
  EXPECT_FALSE(core::AsVariable(V(3) + At("1")));
  EXPECT_FALSE(core::AsVariable(Quotient(3, "2")));
  EXPECT_EQ(core::AsNumber(At("6/2")), 3);
  EXPECT_FALSE(core::AsNumber(At("N")));
}

TEST(Affine, Substitutes) {
  const auto with = [](const Affine& position, const Affine& replacement) {
    return core::Substituted(position, {{0, replacement}});
  };
  EXPECT_EQ(with(V(0) * "2" + V(1), V(1) + At("3")), V(1) * "3" + At("6"));
  EXPECT_EQ(with(V(0) * "2" + At("1"), (V(1) + At("1")) / "2"), V(1) + At("2"));
  EXPECT_EQ(with((V(0) + At("1")) / "3", (V(1)) / "2"), (V(1) + At("2")) / "6");
  EXPECT_EQ(with(Quotient(0, "4"), V(2)), Quotient(2, "4"));
  EXPECT_EQ(with(Quotient(0, "4"), Quotient(2, "S")), Quotient(2, "4*S"));
  EXPECT_EQ(with(Remainder(0, "4"), Remainder(2, "12")), Remainder(2, "4"));
  EXPECT_EQ(with(Quotient(0, "4"), At("-3")), At("-1"));
  EXPECT_EQ(with(Remainder(0, "4") * "N", At("-3")), At("N"));
  // What has no such form.
  EXPECT_FALSE(with(Remainder(0, "4"), V(1) + V(2)));
  EXPECT_FALSE(with(Remainder(0, "4"), Quotient(1, "2")));
  EXPECT_FALSE(with(Quotient(0, "4"), V(1) / "2"));
  EXPECT_FALSE(with(V(0) * "9223372036854775807", V(0) * "2"));
}

// Composition is evaluation.
TEST(Affine, SubstitutionAgreesWithNumbers) {
  const auto value = [](const Affine& a, int64_t v0, int64_t v1) {
    int64_t sum = a.constant.Evaluate({{"N", 5}}).value();
    for (const auto& term : a.terms) {
      int64_t v = term.variable == 0 ? v0 : v1;
      if (term.part == Affine::Part::kQuotient) v /= term.modulus->Evaluate({}).value();
      if (term.part == Affine::Part::kRemainder) v %= term.modulus->Evaluate({}).value();
      sum += v * term.coefficient.Evaluate({{"N", 5}}).value();
    }
    return static_cast<double>(sum) / static_cast<double>(a.divisor.Evaluate({}).value());
  };
  const Affine outer = (V(0) * "N" + Quotient(1, "3") - At("4")) / "2", inner = (V(1) * "7" + At("N")) / "3";
  const auto composed = core::Substituted(outer, {{0, inner}});
  ASSERT_TRUE(composed);
  for (int64_t v1 = 0; v1 < 20; ++v1) {
    const int64_t quotient = v1 / 3;
    const double numerator = 5 * value(inner, 0, v1) + static_cast<double>(quotient) - 4;
    EXPECT_NEAR(value(*composed, 0, v1), numerator / 2, 1e-12);
  }
}

}  // namespace
}  // namespace warpwright
