#include "core/code_use.h"

#include <gtest/gtest.h>

#include "base/fields.h"

namespace warpwright {
namespace {

using core::CodeUseKind;
using core::NumberFormat;

TEST(CodeUse, SaysWhatItIs) {
  const struct {
    core::CodeUse use;
    const char* text;
  } rows[] = {{{CodeUseKind::kConversion, NumberFormat::kTF32, {}}, "to tf32"},
              {{CodeUseKind::kUnorderedSums, NumberFormat::kF32, {}}, "unordered sums in f32"},
              {{CodeUseKind::kApproximate, {}, "ex2"}, "approximate ex2"},
              {{CodeUseKind::kFlushed, {}, {}}, "flushed subnormals"},
              {{CodeUseKind::kBuildText, {}, "0123"}, "build: text 0123"},
              {core::FailingLaunch(), "host: a launch that fails"}};
  for (const auto& row : rows) EXPECT_EQ(core::Text(row.use), row.text);
}

// What is reported first is the first by name.
TEST(CodeUse, OrderIsThatOfTheNames) {
  for (int i = 1; i <= static_cast<int>(core::Last(CodeUseKind())); ++i)
    EXPECT_LT(core::Name(static_cast<CodeUseKind>(i - 1)), core::Name(static_cast<CodeUseKind>(i)));
  for (int i = 1; i <= static_cast<int>(core::Last(NumberFormat())); ++i)
    EXPECT_LT(core::Name(static_cast<NumberFormat>(i - 1)), core::Name(static_cast<NumberFormat>(i)));
}

TEST(CodeUse, FormatsOfBuffers) {
  EXPECT_EQ(core::FormatOf(core::DType::kBF16), NumberFormat::kBF16);
  EXPECT_EQ(core::FormatOf(core::DType::kI64), std::nullopt);
}

TEST(CodeUse, OnlyTheFirstPlaceOfAUseIsKept) {
  core::CodeUses uses;
  const core::CodeUse use{CodeUseKind::kHost, {}, "getenv"};
  uses.insert({use, "getenv", "a.cu", 3});
  uses.insert({use, "getenv", "a.cu", 9});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses.find(use)->line, 3);
}

}  // namespace
}  // namespace warpwright
