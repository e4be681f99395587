#include "judge/agreement.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

judge::Agreement Compare(core::DType dtype, const std::vector<double>& expected, const std::vector<double>& actual,
                         base::UninitializedVector<double> truth = {}, std::vector<bool> unwritten = {}) {
  judge::OutputReference reference;
  reference.bytes = Pack(dtype, expected);
  reference.truth = std::move(truth);
  reference.unwritten = std::move(unwritten);
  const judge::OutputLayout layout{"out", dtype, {static_cast<int64_t>(expected.size())}, 1};
  return judge::Agree(layout, reference, {}, 1, Pack(dtype, actual));
}

TEST(Agreement, EqualBitsAreSaidToBe) {
  const judge::Agreement agreement = Compare(core::DType::kF32, {1, 2, 3}, {1, 2, 3});
  EXPECT_EQ(agreement.different, 0u);
  EXPECT_EQ(judge::AgreementNote("gpt2", "out", agreement), "agreement: gpt2: out is bit-identical");
}

// The error of 8 is smaller than that of 1, and its tolerance is larger.
TEST(Agreement, TheElementThatUsedMostOfItsToleranceSpeaks) {
  const double ulp = 0x1.0p-23;
  const judge::Agreement agreement = Compare(core::DType::kF32, {1, 1000, 3}, {1 + 4 * ulp, 1000 + 512 * ulp, 3});
  EXPECT_EQ(agreement.different, 2u);
  EXPECT_EQ(agreement.elements, 3u);
  EXPECT_GT(agreement.allowed, agreement.error);
  const judge::Agreement first = Compare(core::DType::kF32, {1, 1000, 3}, {1 + 4 * ulp, 1000, 3});
  const judge::Agreement second = Compare(core::DType::kF32, {1, 1000, 3}, {1, 1000 + 512 * ulp, 3});
  const double larger = std::max(first.error / first.allowed, second.error / second.allowed);
  EXPECT_DOUBLE_EQ(agreement.error / agreement.allowed, larger);
  EXPECT_NE(judge::AgreementNote("gpt2", "out", agreement).find("(2 of 3 elements differ)"), std::string::npos);
}

TEST(Agreement, ErrorsAreAgainstTheTruthWhereItIsKnown) {
  const double ulp = 0x1.0p-23;
  const judge::Agreement agreement = Compare(core::DType::kF32, {1, 1}, {1 + ulp, 1}, {1 + 3 * ulp, 1});
  EXPECT_DOUBLE_EQ(agreement.error, 2 * ulp);
}

TEST(Agreement, WhatTheOriginalLeavesAloneAndWhatIsNoNumberIsNotAnError) {
  EXPECT_EQ(Compare(core::DType::kF32, {1, 2}, {1, 7}, {}, {false, true}).different, 0u);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const judge::Agreement agreement = Compare(core::DType::kF32, {nan, 2}, {-nan, 2});
  EXPECT_EQ(agreement.error, 0);
}

}  // namespace
}  // namespace warpwright
