#include "judge/mismatch_pattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace warpwright {
namespace {

TEST(MismatchPattern, SaysWhereAndHow) {
  const auto off = [](size_t i, double expected) { return expected + 1 + static_cast<double>(i * i); };
  struct Row {
    std::function<bool(size_t)> wrong;  // of 24 x 40
    std::function<double(size_t, double)> value;
    const char* pattern;
  };
  const Row rows[] = {
      {[](size_t) { return true; }, off, "all of them"},
      {[](size_t i) { return i >= 950; }, off, "the last 10"},
      {[](size_t i) { return i / 40 == 7; }, off, "all in row 7"},
      {[](size_t i) { return i / 40 == 7 && i % 3 == 0; }, off, "all in row 7"},
      {[](size_t i) { return i % 40 == 39; }, off, "all in column 39"},
      {[](size_t i) { return i % 40 >= 32; }, off, "the last 8 columns of 24 rows"},
      {[](size_t i) { return i / 40 >= 8 && i / 40 < 12; }, off, "all of rows 8 to 11"},
      {[](size_t i) { return i > 100 && i < 190; }, off, "those from 101 to 189 without a gap"},
      {[](size_t i) { return i % 32 == 5; }, off, "every 32nd from 5 to 933"},
      {[](size_t i) { return i % 32 == 0 && i != 64; }, off, "all at multiples of 32 from 0 on"},
      {[](size_t i) { return i % 7 == 0 || i % 5 == 1; }, off, ""},
      {[](size_t i) { return i % 7 == 0 || i % 5 == 1; }, [](size_t, double expected) { return 2 * expected; },
       "each is 2 times what is expected"},
      {[](size_t i) { return i >= 950; }, [](size_t, double) { return 0.0; }, "the last 10, each is zero"},
      {[](size_t i) { return i >= 950; }, [](size_t, double) { return std::nan(""); }, "the last 10, none is finite"},
      {[](size_t i) { return i == 3 || i == 9; }, off, ""},
  };
  for (const Row& row : rows) {
    judge::MismatchPattern pattern({24, 40});
    for (size_t i = 0; i < 960; ++i) {
      const double expected = 1 + static_cast<double>(i % 13);
      if (row.wrong(i)) pattern.Add(i, row.value(i, expected), expected);
    }
    EXPECT_EQ(pattern.Describe(960), row.pattern);
  }
}

TEST(MismatchPattern, PlacesAloneSayWhere) {
  judge::MismatchPattern pattern({24, 40});
  for (size_t row = 0; row < 24; ++row) pattern.AddPlace(row * 40 + 7);
  EXPECT_EQ(pattern.Describe(960), "all in column 7");
}

}  // namespace
}  // namespace warpwright
