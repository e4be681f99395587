// Flat buffers as their factors.
#include "lift/dimensions.h"

#include <gtest/gtest.h>

#include <string>

namespace warpwright::lift {
namespace {

struct DimensionsRow {
  const char* shape;
  std::vector<std::string> as_written, numbers_last;
};
class Dimensions : public testing::TestWithParam<DimensionsRow> {};

TEST_P(Dimensions, AreTheFactors) {
  core::BufferArgument buffer;
  buffer.shape = {core::Expression::Parse(GetParam().shape).value()};
  for (const FactorOrder order : {FactorOrder::kAsWritten, FactorOrder::kNumbersLast}) {
    std::vector<std::string> texts;
    for (const core::Expression& factor : DimensionsOf(buffer, order)) {
      texts.push_back(factor.text());
      std::erase(texts.back(), ' ');
    }
    EXPECT_EQ(texts, order == FactorOrder::kAsWritten ? GetParam().as_written : GetParam().numbers_last);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Dimensions,
                         testing::Values(DimensionsRow{"n", {"n"}, {"n"}},
                                         DimensionsRow{"h * w", {"h", "w"}, {"h", "w"}},
                                         DimensionsRow{"2 * n", {"2", "n"}, {"n", "2"}},
                                         DimensionsRow{"3 * h * w", {"3", "h", "w"}, {"h", "w", "3"}},
                                         DimensionsRow{"n + 2", {"n+2"}, {"n+2"}}));

}  // namespace
}  // namespace warpwright::lift
