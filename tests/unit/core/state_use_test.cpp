#include "core/state_use.h"

#include <gtest/gtest.h>

namespace warpwright::core {
namespace {

using Ranges = std::vector<ByteRange>;

TEST(StateUse, RangesAreJoinedAndBounded) {
  EXPECT_EQ(RangesOf(10, [](uint64_t i) { return i < 2 || (i >= 4 && i < 7); }), (Ranges{{0, 2}, {4, 7}}));
  EXPECT_TRUE(RangesOf(10, [](uint64_t) { return false; }).empty());
  const Ranges many = RangesOf(100'000, [](uint64_t i) { return i % 2 == 0; });
  EXPECT_EQ(many.size(), 4096u);
  EXPECT_EQ(many.back().end, 99'999u);  // the last one covers the rest
  EXPECT_EQ(Union({{0, 2}, {4, 6}}, {{1, 3}, {6, 8}}), (Ranges{{0, 3}, {4, 8}}));
  EXPECT_EQ(Union({}, {}), Ranges());
}

TEST(StateUse, WhatIsReadAndLeftIsFound) {
  struct Row {
    Ranges inherited, left;
    std::optional<uint64_t> common;
  };
  const Row rows[] = {{{{0, 4}}, {{4, 400}}, std::nullopt},  // a ticket that is reset, parts that are filled
                      {{{0, 4}}, {{0, 4}}, 0},               // a counter
                      {{{8, 12}, {20, 24}}, {{0, 4}, {22, 40}}, 22},
                      {{}, {{0, 400}}, std::nullopt},
                      {{{0, 400}}, {}, std::nullopt}};
  for (const Row& row : rows) EXPECT_EQ(FirstCommon(row.inherited, row.left), row.common);
}

TEST(StateUse, WhatOneRunLeavesAnotherMayFind) {
  std::vector<StateUse> known = {{"flags", true, {}, {{0, 8}}}};
  Merge({{"flags", true, {{4, 8}}, {}}, {"other", true, {{0, 4}}, {}}}, known);
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(FirstCommon(known[0].inherited, known[0].left), 4u);
}

}  // namespace
}  // namespace warpwright::core
