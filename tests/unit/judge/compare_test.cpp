#include "judge/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "tests/support/bytes.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> Normals(size_t n, double scale = 1) {
  const base::CounterRandom random(7, 7);
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = scale * (random.Uniform(3 * i) + random.Uniform(3 * i + 1) + random.Uniform(3 * i + 2) - 1.5) * 2;
  return values;
}

judge::OutputReference Reference(core::DType dtype, const std::vector<double>& values) {
  judge::OutputReference reference;
  reference.bytes = Pack(dtype, values);
  return reference;
}

struct ElementRow {
  const char* why;
  core::DType dtype;
  double expected, actual;
  bool accepted;
};

// The element is among 99 others of magnitude about 1.
TEST(Compare, DecidesElementByElement) {
  const ElementRow rows[] = {
      {"equal", core::DType::kF32, 1, 1, true},
      {"one ulp", core::DType::kF32, 1, 1 + 0x1.0p-23, true},
      {"1e-4 off", core::DType::kF32, 1, 1.0001, false},
      {"1e-4 off, negative reference", core::DType::kF32, -1, -1.0001, false},
      {"half of a negative reference", core::DType::kF32, -1, -0.5, false},
      {"far above a negative reference", core::DType::kF32, -1, 1e30, false},
      {"wrong sign", core::DType::kF32, 1, -1, false},
      {"NaN for a number", core::DType::kF32, 1, kNaN, false},
      {"a number for NaN", core::DType::kF32, kNaN, 1, false},
      {"NaN for NaN", core::DType::kF32, kNaN, kNaN, true},
      {"infinity for a number", core::DType::kF32, 1, kInf, false},
      {"a number for infinity", core::DType::kF32, kInf, 3e38, false},
      {"the same infinity", core::DType::kF32, kInf, kInf, true},
      {"the other infinity", core::DType::kF32, kInf, -kInf, false},
      {"infinity for NaN", core::DType::kF32, kNaN, kInf, false},
      {"NaN for infinity", core::DType::kF32, kInf, kNaN, false},
      {"-0 for 0", core::DType::kF32, 0, -0.0, true},
      {"tiny for 0", core::DType::kF32, 0, 1e-9, true},
      {"small for 0", core::DType::kF32, 0, 1e-3, false},
      {"0 for small", core::DType::kF32, 1e-3, 0, false},
      {"f64 1e-12 off", core::DType::kF64, 1, 1 + 1e-12, true},
      {"f64 1e-8 off", core::DType::kF64, 1, 1 + 1e-8, false},
      {"f16 one ulp", core::DType::kF16, 1, 1 + 0x1.0p-10, true},
      {"f16 3 ulp", core::DType::kF16, 1, 1 + 3 * 0x1.0p-10, false},
      {"bf16 one ulp", core::DType::kBF16, 1, 1 + 0x1.0p-7, true},
      {"bf16 4 ulp", core::DType::kBF16, 1, 1 + 4 * 0x1.0p-7, false},
      {"i32 one off", core::DType::kI32, 100, 101, false},
      {"i32 equal", core::DType::kI32, -100, -100, true},
      {"bool", core::DType::kBool, 1, 0, false},
  };
  for (const ElementRow& row : rows) {
    for (const size_t position : {size_t{0}, size_t{57}, size_t{99}}) {
      std::vector<double> expected = Normals(100);
      if (!core::IsFloat(row.dtype)) expected.assign(100, row.dtype == core::DType::kBool ? 1 : 5);
      expected[position] = row.expected;
      judge::OutputReference reference = Reference(row.dtype, expected);
      auto actual = reference.bytes;
      StoreIn(actual, row.dtype, position, row.actual);
      const judge::Comparator comparator({"out", row.dtype, {100}, 1}, reference, {});
      const auto mismatch = comparator.Check(actual);
      EXPECT_EQ(!mismatch, row.accepted) << row.why << " at " << position << (mismatch ? ": " + mismatch->message : "");
      EXPECT_EQ(comparator.Accepts(actual), row.accepted) << row.why;
      if (mismatch) {
        EXPECT_EQ(mismatch->index, position);
        EXPECT_EQ(mismatch->wrong, 1u);
      }
    }
  }
}

TEST(Compare, ReportsCoordinatesAndValues) {
  const judge::OutputReference reference = Reference(core::DType::kF32, std::vector<double>(24, 0.5));
  auto actual = reference.bytes;
  StoreIn(actual, core::DType::kF32, 17, 0.25);
  StoreIn(actual, core::DType::kF32, 20, 0.25);
  const auto mismatch = judge::Comparator({"out", core::DType::kF32, {2, 3, 4}, 1}, reference, {}).Check(actual);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 17u);
  EXPECT_TRUE(mismatch->message.starts_with("out[1, 1, 1] is 0.25, expected 0.5 (off by 0.25, allowed "))
      << mismatch->message;
  EXPECT_TRUE(mismatch->message.ends_with("; 2 of 24 elements are wrong")) << mismatch->message;
}

TEST(Compare, HandlesEmptyAndMisfittingOutputs) {
  const judge::OutputReference empty = Reference(core::DType::kF32, {});
  EXPECT_FALSE(judge::Comparator({"out", core::DType::kF32, {0}, 1}, empty, {}).Check({}));
  const judge::OutputReference four = Reference(core::DType::kF32, {1, 2, 3, 4});
  EXPECT_TRUE(
      judge::Comparator({"out", core::DType::kF32, {4}, 1}, four, {}).Check(Pack(core::DType::kF32, {1, 2, 3})));
  EXPECT_TRUE(judge::Comparator({"out", core::DType::kF32, {4}, 1}, four, {}).Check({}));
  EXPECT_FALSE(judge::Comparator({"out", core::DType::kF32, {4}, 1}, four, {})
                   .Accepts(Pack(core::DType::kF32, {1, 2, 3, 4, 5})));
  EXPECT_FALSE(judge::Comparator({"out", core::DType::kF32, {4}, 1}, empty, {}).Accepts(Pack(core::DType::kF32, {1})));
}

// Zeros must not pass, however small the output is: no tolerance is absolute.
TEST(Compare, ToleranceScalesWithTheReference) {
  for (const double scale : {1e-30, 1e-6, 1.0, 1e6, 1e30}) {
    const judge::OutputReference reference = Reference(core::DType::kF32, Normals(1000, scale));
    const judge::Comparator comparator({"out", core::DType::kF32, {1000}, 1024}, reference, {});
    EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, std::vector<double>(1000, 0)))) << scale;
    EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, Normals(1000, scale * 1.001)))) << scale;
    EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, Normals(1000, scale * (1 + 1e-7))))) << scale;
  }
}

TEST(Compare, RowsAreJudgedByTheirOwnMagnitude) {
  // Row 0 is a million times larger: an error that it would hide is detected in row 1.
  std::vector<double> values = Normals(200);
  for (size_t i = 0; i < 100; ++i) values[i] *= 1e6;
  const judge::OutputReference reference = Reference(core::DType::kF32, values);
  values[150] += 1e-3;
  EXPECT_FALSE(judge::Comparator({"out", core::DType::kF32, {2, 100}, 100}, reference, {})
                   .Accepts(Pack(core::DType::kF32, values)));
}

TEST(Compare, LongerSumsMayErrMore) {
  const judge::OutputReference reference = Reference(core::DType::kF32, Normals(100));
  auto values = Normals(100);
  values[50] += 5e-5;
  EXPECT_FALSE(
      judge::Comparator({"out", core::DType::kF32, {100}, 1}, reference, {}).Accepts(Pack(core::DType::kF32, values)));
  EXPECT_TRUE(judge::Comparator({"out", core::DType::kF32, {100}, 4096}, reference, {})
                  .Accepts(Pack(core::DType::kF32, values)));
  EXPECT_FALSE(judge::Comparator({"out", core::DType::kF32, {100}, 4096}, reference, {}, 64)
                   .Accepts(Pack(core::DType::kF32, values)));
}

TEST(Compare, LeniencyOfTheManifest) {
  const judge::OutputReference reference = Reference(core::DType::kF32, Normals(100));
  const auto off = Pack(core::DType::kF32, Normals(100, 1.0004));
  const auto at = [&](judge::ToleranceOverrides leniency) {
    return judge::Comparator({"out", core::DType::kF32, {100}, 1}, reference, leniency).Accepts(off);
  };
  EXPECT_FALSE(at({}));
  EXPECT_TRUE(at({std::nullopt, true, false}));
  EXPECT_TRUE(at({1e-3, false, false}));
  EXPECT_FALSE(at({1e-5, false, false}));
}

TEST(Compare, ElementsThatTheOriginalLeavesAloneStayAlone) {
  judge::OutputReference reference = Reference(core::DType::kF32, Normals(100));
  reference.unwritten.assign(100, false);
  reference.unwritten[10] = true;
  StoreIn(reference.bytes, core::DType::kF32, 10, 1e30);  // poison; must not widen any tolerance
  const judge::Comparator comparator({"out", core::DType::kF32, {100}, 1}, reference, {});
  auto actual = reference.bytes;
  EXPECT_TRUE(comparator.Accepts(actual));
  StoreIn(actual, core::DType::kF32, 11, 3);
  EXPECT_FALSE(comparator.Accepts(actual));
  actual = reference.bytes;
  StoreIn(actual, core::DType::kF32, 10, 0);
  const auto mismatch = comparator.Check(actual);
  ASSERT_TRUE(mismatch);
  EXPECT_NE(mismatch->message.find("leaves alone"), std::string::npos);
}

TEST(Compare, ExactModeWantsEqualValues) {
  judge::OutputReference reference = Reference(core::DType::kF32, {1000, 0, 3, 7});
  reference.exact = true;
  const judge::Comparator comparator({"out", core::DType::kF32, {4}, 1e6}, reference, {});
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, {1000, -0.0, 3, 7})));
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, {1000.0001, 0, 3, 7})));
}

// ---- accuracy budget ----

struct Budget {
  std::vector<double> truth;
  judge::OutputReference reference;
};
// An original whose relative error is about `error`.
Budget MakeBudget(double error, size_t n = 4096) {
  Budget budget;
  budget.truth = Normals(n);
  const base::CounterRandom random(3, 3);
  std::vector<double> original = budget.truth;
  for (size_t i = 0; i < n; ++i) original[i] += error * (random.Uniform(i) - 0.5);
  budget.reference = Reference(core::DType::kF32, original);
  budget.reference.truth.assign(budget.truth.begin(), budget.truth.end());
  return budget;
}
bool BudgetAccepts(const Budget& budget, const std::vector<double>& actual) {
  return judge::Comparator({"out", core::DType::kF32, {64, 64}, 1e6}, budget.reference, {})
      .Accepts(Pack(core::DType::kF32, actual));
}

TEST(Compare, BudgetFollowsTheOriginalsOwnError) {
  for (const double error : {0.0, 1e-6, 1e-4}) {
    const Budget budget = MakeBudget(error);
    EXPECT_TRUE(BudgetAccepts(budget, budget.truth)) << error;
    auto similar = budget.truth, worse = budget.truth, tf32 = budget.truth;
    const base::CounterRandom random(4, 4);
    for (size_t i = 0; i < similar.size(); ++i) {
      similar[i] += 1.5 * error * (random.Uniform(i) - 0.5);
      worse[i] += (20 * error + 1e-5) * (random.Uniform(i) - 0.5);
      tf32[i] = std::ldexp(std::nearbyint(std::ldexp(tf32[i], 10)), -10);
    }
    EXPECT_TRUE(BudgetAccepts(budget, similar)) << error;
    EXPECT_FALSE(BudgetAccepts(budget, worse)) << error;
    EXPECT_FALSE(BudgetAccepts(budget, tf32)) << error;
  }
}

TEST(Compare, BudgetSeesManySmallErrors) {
  // Every element within 4 times the largest error of the original's row, but all of them at 3 times: the root mean
  // square detects it.
  const Budget budget = MakeBudget(1e-4);
  auto actual = budget.truth;
  for (size_t i = 0; i < actual.size(); ++i) actual[i] += (i % 2 == 0 ? 1 : -1) * 1.4e-4;
  const judge::Comparator comparator({"out", core::DType::kF32, {64, 64}, 1e6}, budget.reference, {});
  const auto mismatch = comparator.Check(Pack(core::DType::kF32, actual));
  ASSERT_TRUE(mismatch);
  EXPECT_NE(mismatch->message.find("root mean square"), std::string::npos) << mismatch->message;
}

TEST(Compare, BudgetSeesOneElement) {
  // Ten times the row's largest error, once: too small an effect on any sum over the output.
  const Budget budget = MakeBudget(1e-4);
  for (const size_t where : {size_t{0}, size_t{2000}, size_t{4095}}) {
    std::vector<double> actual(budget.truth.size());  // otherwise the original's: it is not nearer to the truth
    for (size_t i = 0; i < actual.size(); ++i)
      actual[i] = core::LoadAsDouble(core::DType::kF32, budget.reference.bytes.data(), i);
    actual[where] += 5e-4;
    const auto mismatch = judge::Comparator({"out", core::DType::kF32, {64, 64}, 1e6}, budget.reference, {})
                              .Check(Pack(core::DType::kF32, actual));
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->index, where);
    EXPECT_EQ(mismatch->wrong, 1u);
  }
}

TEST(Compare, AToleranceThatIsNoNumberAcceptsNothing) {
  const judge::OutputReference reference = Reference(core::DType::kF32, Normals(100));
  const judge::Comparator comparator({"out", core::DType::kF32, {100}, 1}, reference, {kNaN, false, false});
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, Normals(100, 1.5))));
}

TEST(Compare, BudgetSeesABias) {
  // Within the original's spread, but always with the same sign: terms were dropped.
  const Budget budget = MakeBudget(1e-4);
  auto actual = budget.truth, shrunk = budget.truth;
  const base::CounterRandom random(5, 5);
  uint64_t i = 0;
  for (double& x : actual) x += 3e-5 * (0.5 + random.Uniform(i++));
  for (double& x : shrunk) x -= std::copysign(3e-5 * (0.5 + random.Uniform(i++)), x);
  for (const auto& biased : {actual, shrunk}) {
    const auto mismatch = judge::Comparator({"out", core::DType::kF32, {64, 64}, 1e6}, budget.reference, {})
                              .Check(Pack(core::DType::kF32, biased));
    ASSERT_TRUE(mismatch);
    EXPECT_NE(mismatch->message.find("biased"), std::string::npos) << mismatch->message;
  }
}

TEST(Compare, ConditioningForgivesNoiseButIsCapped) {
  // The layer norm of a constant row: the reference is 0, rounding moves it by 2e-5.
  judge::OutputReference reference = Reference(core::DType::kF32, std::vector<double>(128, 0));
  const auto noise = Pack(core::DType::kF32, std::vector<double>(128, 2e-5));
  const judge::OutputLayout layout{"out", core::DType::kF32, {1, 128}, 128};
  EXPECT_FALSE(judge::Comparator(layout, reference, {}).Accepts(noise));
  reference.typical_rms = 1;
  reference.conditioning.assign(128, 2e-5);
  EXPECT_TRUE(judge::Comparator(layout, reference, {}).Accepts(noise));
  reference.conditioning.assign(128, 100);
  EXPECT_FALSE(
      judge::Comparator(layout, reference, {}).Accepts(Pack(core::DType::kF32, std::vector<double>(128, 0.01))));
}

TEST(Compare, NonFiniteTruthFallsBackToTheTable) {
  Budget budget = MakeBudget(0, 128);
  budget.reference.truth.Set(5, kInf);  // the shadow does not overflow where the original does, or vice versa
  auto actual = budget.truth;
  const judge::Comparator comparator({"out", core::DType::kF32, {128}, 1}, budget.reference, {});
  EXPECT_TRUE(comparator.Accepts(Pack(core::DType::kF32, actual)));
  actual[5] += 0.1;
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, actual)));
  actual[5] = kNaN;
  EXPECT_FALSE(comparator.Accepts(Pack(core::DType::kF32, actual)));
}

// Where partial sums may be too large for 16 bits, an output may be what the form says, or what the original has.
TEST(Compare, SumsThatOverflowOnTheirWayMayBeRight) {
  const struct {
    const char* name;
    double truth, original, actual;
    core::DType accumulation;
    bool accepted;
  } rows[] = {
      {"right", 100, kInf, 100, core::DType::kF16, true},
      {"right, where the original is no number", 100, kNaN, 100, core::DType::kF16, true},
      {"right, where the original is off", 100, 90, 100, core::DType::kF16, true},
      {"the original's", 100, kInf, kInf, core::DType::kF16, true},
      {"neither", 100, kInf, 110, core::DType::kF16, false},
      {"no number", 100, kInf, kNaN, core::DType::kF16, false},
      {"too large", 1e6, -kInf, kInf, core::DType::kF16, true},
      {"too large, to the other side first", 1e6, kInf, -kInf, core::DType::kF16, true},
      {"too large, though the original is not", 100, 100, -kInf, core::DType::kF16, false},
      {"infinite for no reason", 100, 100, kInf, core::DType::kF16, false},
      {"summed in f32", 100, kInf, 100, core::DType::kF32, false},
  };
  for (const auto& row : rows) {
    const std::vector<double> original(128, row.original), actual(128, row.actual), truth(128, row.truth);
    judge::OutputReference reference{.bytes = Pack(core::DType::kF16, original)};
    reference.truth.assign(truth.begin(), truth.end());
    reference.bound.assign(truth.size(), kInf);
    reference.source = judge::TruthSource::kForm;
    reference.accumulation = row.accumulation;
    const judge::Comparator comparator({"out", core::DType::kF16, {128}, 16}, reference, {});
    EXPECT_EQ(comparator.Accepts(Pack(core::DType::kF16, actual)), row.accepted) << row.name;
    EXPECT_EQ(!comparator.Check(Pack(core::DType::kF16, actual)), row.accepted) << row.name;
  }
}

TEST(Compare, OrderDecidesOfHugeTermsWhichInfinityTheyAre) {
  const struct {
    const char* name;
    double truth, bound, original, actual;
    bool accepted;
  } rows[] = {
      {"terms too large for f32", 1e38, 1e33, kInf, -kInf, true},
      {"a sum too large for f32", -1e39, 1e33, kInf, -kInf, true},
      {"a sum too large for its own type", 1e6, 1, kInf, -kInf, false},
      {"the number", 1e38, 1e33, kInf, 1e38, true},
      {"another number", 1e38, 1e33, kInf, 2e38, false},
      {"a number whose terms are small", 1e6, 1, kInf, 1e6, false},
      {"no number", 1e38, 1e33, kInf, kNaN, false},
      {"infinite where the original is a number", 1e38, 1e33, 1e38, kInf, false},
  };
  for (const auto& row : rows) {
    const std::vector<double> original(128, row.original), actual(128, row.actual);
    judge::OutputReference reference{.bytes = Pack(core::DType::kBF16, original)};
    reference.truth.assign(original.size(), row.truth);
    reference.bound.assign(original.size(), row.bound);
    reference.source = judge::TruthSource::kForm;
    const judge::Comparator comparator({"out", core::DType::kBF16, {128}, 16}, reference, {});
    EXPECT_EQ(comparator.Accepts(Pack(core::DType::kBF16, actual)), row.accepted) << row.name;
  }
}

// A half that is rounded from a sum just beyond its largest number is infinite, and in another order it may not be.
TEST(Compare, WhetherALargeSumIsInfiniteIsAMatterOfItsLastRounding) {
  const struct {
    const char* name;
    double truth, bound, original, actual;
    bool accepted;
  } rows[] = {
      {"the largest number for an infinity", 65519, 1, kInf, 65504, true},
      {"an infinity for the largest number", 65519, 1, 65504, kInf, true},
      {"a number too large by more than roundings", 65600, 1, kInf, 65504, false},
      {"an infinity where the number is plain", 65000, 1, 64992, kInf, false},
      {"the other infinity", 65519, 1, 65504, -kInf, false},
      {"below zero", -65520, 1, -kInf, -65504, true},
      {"no number", 65519, 1, 65504, kNaN, false},
  };
  for (const auto& row : rows) {
    std::vector<double> original(128, 1), actual(128, 1);
    original[7] = row.original, actual[7] = row.actual;
    judge::OutputReference reference{.bytes = Pack(core::DType::kF16, original)};
    reference.truth.assign(original.size(), 1);
    reference.bound.assign(original.size(), 1e-3);
    reference.truth.Set(7, row.truth), reference.bound.Set(7, row.bound);
    reference.source = judge::TruthSource::kForm;
    const judge::Comparator comparator({"out", core::DType::kF16, {128}, 16}, reference, {});
    EXPECT_EQ(comparator.Accepts(Pack(core::DType::kF16, actual)), row.accepted) << row.name;
    EXPECT_EQ(!comparator.Check(Pack(core::DType::kF16, actual)), row.accepted) << row.name;
  }
}

// What a value that waits in 16 bits on its way becomes has no bound where it is too large for them.
TEST(Compare, OfBoundlessSumsEitherInfinityIsRight) {
  const auto accepts = [](double truth, double bound, double actual, double kept = 0) {
    const std::vector<double> original(128, -kInf), other(128, actual);
    judge::OutputReference reference{.bytes = Pack(core::DType::kBF16, original)};
    reference.truth.assign(original.size(), truth);
    reference.bound.assign(original.size(), bound);
    reference.source = judge::TruthSource::kForm;
    return judge::Comparator({"out", core::DType::kBF16, {128}, 16, kept}, reference, {})
        .Accepts(Pack(core::DType::kBF16, other));
  };
  EXPECT_TRUE(accepts(1e30, kInf, kInf));
  EXPECT_FALSE(accepts(-kInf, kInf, kInf)) << "no number in float64 either";
  EXPECT_FALSE(accepts(1e30, 1, kInf));
  EXPECT_FALSE(accepts(1e30, kInf, 1e30));
  EXPECT_TRUE(accepts(1e30, kInf, 1e30, 0x1p-8)) << "the truth, where values wait in 16 bits";
  EXPECT_FALSE(accepts(1e30, kInf, 2e30, 0x1p-8));
}

// A residual block of which a part became infinite in 16 bits, behind an activation that makes zero of no number.
TEST(Compare, WhatIsLeftOfAnOverflowIsAMatterOfOrder) {
  const auto accepts = [](double original, double actual, double bound = kInf) {
    std::vector<double> originals(128, 40000), other = originals;
    originals[7] = original, other[7] = actual;
    judge::OutputReference reference{.bytes = Pack(core::DType::kF16, originals)};
    reference.truth.assign(originals.size(), 40000);
    reference.bound.assign(originals.size(), 10);
    for (const size_t i : {7, 8, 9}) reference.bound.Set(i, bound);  // most are right: it is no noise
    reference.source = judge::TruthSource::kForm;
    return judge::Comparator({"out", core::DType::kF16, {128}, 16, 0x1p-11}, reference, {})
        .Accepts(Pack(core::DType::kF16, other));
  };
  EXPECT_TRUE(accepts(0, kInf));
  EXPECT_TRUE(accepts(kInf, 0));
  EXPECT_TRUE(accepts(0, 40000)) << "the truth";
  EXPECT_FALSE(accepts(0, 20000));
  EXPECT_FALSE(accepts(40000, kInf)) << "an original that is right";
  EXPECT_FALSE(accepts(0, kInf, 10));
}

// A variance as the difference of two large numbers, under inputs far from zero.
TEST(Compare, NoiseIsNotCompared) {
  const struct {
    const char* name;
    double original, bound;
    bool own_inputs;
    double actual;
    bool accepted;
  } rows[] = {
      {"noise", 90, kInf, false, 5000, true},
      {"noise that is no number", 90, kInf, false, kNaN, false},
      {"of the case's own inputs", 90, kInf, true, 5000, false},
      {"an original that is right", 100, kInf, false, 5000, false},
      {"what is bounded", 100.001, 0.01, false, 5000, false},
  };
  for (const auto& row : rows) {
    const std::vector<double> original(128, row.original), actual(128, row.actual);
    judge::OutputReference reference{.bytes = Pack(core::DType::kF32, original)};
    reference.truth.assign(original.size(), 100);
    reference.bound.assign(original.size(), row.bound);
    reference.bound.Set(0, kInf);
    reference.source = judge::TruthSource::kForm;
    reference.own_inputs = row.own_inputs;
    const judge::Comparator comparator({"out", core::DType::kF32, {128}, 16}, reference, {});
    EXPECT_EQ(comparator.Accepts(Pack(core::DType::kF32, actual)), row.accepted) << row.name;
  }
}

// The variance of two numbers that are nearly the same: no bound tells what is left of it, but what is rounded once.
TEST(Compare, WhereNothingIsBoundedRoundingsOfSumsAre) {
  const struct {
    const char* name;
    double original, single, actual;
    bool accepted, own_inputs = false, known = true;
  } rows[] = {
      {"within what a rounding of each sum may do", 100, 0.05, 100.19, true},
      {"beyond it", 100, 0.05, 100.21, false},
      {"a few times as far off as the original", 100.02, kInf, 100.09, true},
      {"much farther", 100.02, kInf, 100.11, false},
      {"the same of the case's own inputs", 100.02, kInf, 100.09, true, true},
      {"what the original has right", 100, kInf, 100.09, false},
      {"a few times as far off as an original that is near, on the other side", 100.0008, 1e-5, 99.998, true},
      {"much farther there", 100.0008, 1e-5, 99.996, false},
      {"of an original that overflowed", 80, 1e-5, 60, false},
      {"an element that is in no sample, beside it", 100, kNaN, 100.05, false, false, false},
  };
  for (const auto& row : rows) {
    std::vector<double> original(128, 100), actual(128, 100);
    original[5] = row.original, actual[5] = row.actual;
    judge::OutputReference reference{.bytes = Pack(core::DType::kF32, original)};
    reference.truth.assign(original.size(), 100);
    reference.bound.assign(original.size(), 0.01);
    reference.single.assign(original.size(), 1e-5);
    reference.bound.Set(5, kInf), reference.single.Set(5, row.single);
    reference.bound.Set(6, kInf), reference.single.Set(6, 1e-5);  // right: the others are no noise
    if (!row.known) {
      reference.truth.Set(5, kNaN), reference.bound.Set(5, kNaN);
      original[7] = actual[7] = 100.02;
      reference.bytes = Pack(core::DType::kF32, original);
      reference.bound.Set(7, kInf), reference.single.Set(7, kInf);
    }
    reference.source = judge::TruthSource::kForm;
    reference.own_inputs = row.own_inputs;
    const judge::Comparator comparator({"out", core::DType::kF32, {128}, 16}, reference, {});
    EXPECT_EQ(comparator.Accepts(Pack(core::DType::kF32, actual)), row.accepted) << row.name;
  }
}

TEST(Compare, AccumulationIsEstimatedFromTheShapes) {
  const core::KernelSpec sum = RowSumSpec(core::DType::kF32, 10, 300);
  EXPECT_EQ(judge::EstimateAccumulation(sum, sum.cases[0], sum.args[0]), 300);
  const core::KernelSpec softmax = SoftmaxSpec(10, 300);
  EXPECT_EQ(judge::EstimateAccumulation(softmax, softmax.cases[0], softmax.args[0]), 300);
  const core::KernelSpec elementwise = ElementwiseSpec(core::DType::kF32, 1 << 20);
  EXPECT_EQ(judge::EstimateAccumulation(elementwise, elementwise.cases[0], elementwise.args[0]), 1);
  core::KernelSpec matmul = SoftmaxSpec(5, 7);
  matmul.args = {Arg("c", Buffer(core::DType::kF32, {"M", "N"}, core::Role::kOut)),
                 Arg("a", Buffer(core::DType::kF32, {"M", "K"}, core::Role::kIn)),
                 Arg("b", Buffer(core::DType::kF32, {"K", "N"}, core::Role::kIn))};
  matmul.cases = {MakeCase("x", {{"M", int64_t{64}}, {"N", int64_t{64}}, {"K", int64_t{64}}})};
  EXPECT_EQ(judge::EstimateAccumulation(matmul, matmul.cases[0], matmul.args[0]), 64);
  matmul.accumulation = *core::Expression::Parse("2 * K");
  EXPECT_EQ(judge::EstimateAccumulation(matmul, matmul.cases[0], matmul.args[0]), 128);
}

// By chance the original is exact here; a sum in another order is not.
// Elements that are clearly within are passed over without a look at their tolerance: whatever it is made of, it is
// that of ToleranceAt.
TEST(Comparator, AnElementMayBeOffByItsToleranceAndNoMore) {
  enum class Known { kNothing, kTruth, kBounds };
  for (const Known known : {Known::kNothing, Known::kTruth, Known::kBounds}) {
    const std::vector<double> truth = Normals(4096);
    const base::CounterRandom random(5, 5);
    std::vector<double> original = truth;
    for (size_t i = 0; i < original.size(); ++i) original[i] += 1e-9 * (random.Uniform(i) - 0.5);
    judge::OutputReference reference = Reference(core::DType::kF64, original);
    if (known != Known::kNothing) reference.truth.assign(truth.begin(), truth.end());
    if (known == Known::kBounds) reference.bound.assign(truth.size(), 1e-8);
    const judge::Comparator comparator({"out", core::DType::kF64, {16, 256}, 100}, reference, {});
    for (const size_t i : {0, 255, 256, 1000, 4095}) {
      for (const double share : {-1.001, -0.999, 0.999, 1.001}) {
        std::vector<double> actual = original;
        actual[i] = comparator.TargetAt(i) + share * comparator.ToleranceAt(i);
        const auto mismatch = comparator.Check(Pack(core::DType::kF64, actual));
        ASSERT_EQ(mismatch.has_value(), std::fabs(share) > 1) << static_cast<int>(known) << " " << i << " " << share;
        if (mismatch) {
          EXPECT_EQ(mismatch->index, i);
        }
      }
    }
  }
}

// Values that are kept in 16 bits on the way round by chance. Where the last rounding is as coarse, hardly a row shows
// it, and one of many elements near zero does.
TEST(Budget, OfValuesKeptIn16BitsIsWhatTheWholeOutputShows) {
  constexpr size_t kCount = 1 << 16, kRow = 64;
  constexpr double kKept = 1e-4;
  const auto with_noise = [&](const std::vector<double>& truth, double sigma, uint64_t stream) {
    const base::CounterRandom random(11, stream);
    std::vector<double> values = truth;
    for (size_t i = 0; i < values.size(); ++i)
      for (uint64_t k = 0; k < 12; ++k) values[i] += sigma * (random.Uniform(12 * i + k) - 0.5);
    return values;
  };
  const std::vector<double> truth = Normals(kCount);
  const auto accepts = [&](double original_noise, const std::vector<double>& candidate) {
    judge::OutputReference reference = Reference(core::DType::kF16, with_noise(truth, original_noise, 1));
    reference.truth.assign(truth.begin(), truth.end());
    reference.source = judge::TruthSource::kShadow;
    const judge::OutputLayout layout{"out", core::DType::kF16, {kCount / kRow, kRow}, 64};
    return !judge::Comparator(layout, reference, {}).Check(Pack(core::DType::kF16, candidate));
  };
  EXPECT_TRUE(accepts(kKept, with_noise(truth, kKept, 2)));
  EXPECT_FALSE(accepts(0, with_noise(truth, kKept, 2))) << "nothing was kept in 16 bits";
  std::vector<double> off = with_noise(truth, kKept, 2);
  off[4711] = truth[4711] + 40 * kKept;
  EXPECT_FALSE(accepts(kKept, off));
}

// What honest runs of a sample come to holds for the rest as well, in proportion to its rows.
TEST(Budget, OfElementsInNoSampleIsWhatTheSampleHas) {
  constexpr size_t kCount = 1 << 12, kRow = 64, kKnown = 512;
  std::vector<double> values = Normals(kCount);
  for (size_t i = kCount - kRow; i < kCount; ++i) values[i] *= 1e-3;  // a row of small numbers
  for (double& value : values) value = static_cast<float>(value);
  const std::vector<double> truth = values;
  const auto accepts = [&](double bound, size_t at, double error) {
    judge::OutputReference reference = Reference(core::DType::kF32, values);
    reference.truth.assign(kCount, kNaN);
    reference.bound.assign(kCount, kNaN);
    for (size_t i = 0; i < kKnown; ++i) reference.truth.Set(i, truth[i]), reference.bound.Set(i, bound);
    reference.source = judge::TruthSource::kForm;
    reference.honest = {.rms = 0.1, .largest = 0.5};  // s is 2
    std::vector<double> actual = values;
    actual[at] += error;
    const judge::OutputLayout layout{"out", core::DType::kF32, {kCount / kRow, kRow}, 64};
    return judge::Comparator(layout, reference, {}).Accepts(Pack(core::DType::kF32, actual));
  };
  EXPECT_TRUE(accepts(1e-3, 2000, 1e-3)) << "a value that waits in 16 bits";
  EXPECT_FALSE(accepts(1e-3, 2000, 4e-3));
  EXPECT_FALSE(accepts(1e-3, kCount - 1, 1e-3)) << "in a row of small numbers";
  EXPECT_TRUE(accepts(1e-3, kCount - 1, 1e-6));
  EXPECT_FALSE(accepts(1e-6, 2000, 1e-3)) << "nothing waits";
  // An original that rounds a value before it makes its result of it is off by more than the last rounding, and what
  // rounds once is off from it.
  values[7] += 1e-3;
  EXPECT_TRUE(accepts(1e-6, 2000, 1e-3));
  EXPECT_FALSE(accepts(1e-6, 2000, 4e-3));
}

// Weights as two halves have 17 bits, and of a result of 8 hardly one is another by that.
TEST(Budget, WhatHardlyEverChangesANarrowResultIsNoError) {
  constexpr size_t kCount = 4096;
  std::vector<double> values = Normals(kCount);
  for (double& value : values) value = std::clamp(std::fabs(value), 0.25, 0.49);
  const auto accepts = [&](double error) {
    std::vector<double> actual = values;
    const base::CounterRandom random(11, 3);
    for (size_t i = 0; i < kCount; ++i) actual[i] *= 1 + error * (random.Uniform(i) > 0.5 ? 1 : -1);
    judge::OutputReference reference = Reference(core::DType::kBF16, values);
    reference.truth.assign(values.begin(), values.end());
    reference.bound.assign(kCount, 1e-6);
    reference.source = judge::TruthSource::kForm;
    const judge::OutputLayout layout{"out", core::DType::kBF16, {64, 64}, 64};
    return !judge::Comparator(layout, reference, {}).Check(Pack(core::DType::kBF16, actual));
  };
  EXPECT_TRUE(accepts(0x1p-17));
  EXPECT_FALSE(accepts(0x1p-10));
}

TEST(Budget, WithoutATruthValuesThatWaitIn16BitsAreRounded) {
  const std::vector<double> values = Normals(4096);
  const auto accepts = [&](double kept, double error) {
    std::vector<double> actual = values;
    actual[100] += error;
    const judge::OutputReference reference = Reference(core::DType::kF32, values);
    const judge::OutputLayout layout{"out", core::DType::kF32, {64, 64}, 64, kept};
    return judge::Comparator(layout, reference, {}).Accepts(Pack(core::DType::kF32, actual));
  };
  EXPECT_TRUE(accepts(0x1p-11, 1e-3));
  EXPECT_FALSE(accepts(0x1p-11, 4e-3));
  EXPECT_FALSE(accepts(0, 1e-3));
}

TEST(Budget, ScratchOf16BitsIsWhereValuesWait) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF16, 8);
  const auto add = [&](core::DType dtype) {
    spec.args.push_back(Arg("t", Buffer(dtype, {"n"}, core::Role::kScratch)));
  };
  add(core::DType::kF32);
  EXPECT_EQ(judge::KeptRounding(spec), 0);
  add(core::DType::kF16);
  EXPECT_EQ(judge::KeptRounding(spec), 0x1p-11);
  add(core::DType::kBF16);
  EXPECT_EQ(judge::KeptRounding(spec), 0x1p-8);
}

// Whose partial sums an atomic addition flushes is a matter of order, as long as they are subnormal.
TEST(Budget, WhatAtomicsFlushIsNoError) {
  std::vector<double> values(4096, 0);
  const auto accepts = [&](double flushed, double actual) {
    std::vector<double> other = values;
    other[100] = actual;
    judge::OutputReference reference = Reference(core::DType::kF32, values);
    reference.flushed = flushed;
    const judge::OutputLayout layout{"out", core::DType::kF32, {64, 64}, 64};
    return judge::Comparator(layout, reference, {}).Accepts(Pack(core::DType::kF32, other));
  };
  const double normal = core::SmallestNormal(core::DType::kF32);
  EXPECT_TRUE(accepts(64 * normal, 0.7 * normal));
  EXPECT_FALSE(accepts(0, 0.7 * normal));
  EXPECT_FALSE(accepts(64 * normal, 65 * normal));
}

TEST(Budget, ALongSumMayBeOffByTheRootOfItsLength) {
  std::vector<double> values = Normals(4096);
  for (double& value : values) value = static_cast<float>(value);
  values[10] = 1;
  judge::OutputReference reference = Reference(core::DType::kF32, values);
  reference.truth.assign(values.begin(), values.end());
  const auto accepts = [&](double terms, double ulps) {
    std::vector<double> actual = values;
    actual[10] += ulps * 0x1.0p-23;
    return judge::Comparator({"out", core::DType::kF32, {16, 256}, terms}, reference, {})
        .Accepts(Pack(core::DType::kF32, actual));
  };
  EXPECT_TRUE(accepts(1, 8));
  EXPECT_FALSE(accepts(1, 9));
  EXPECT_TRUE(accepts(500, 9));
  EXPECT_FALSE(accepts(500, 24));
  EXPECT_TRUE(accepts(1e6, 32));
  EXPECT_FALSE(accepts(1e6, 33));
}

}  // namespace
}  // namespace warpwright
