// Shapes from the number of elements that runs touched.
#include "app/extent_fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/expression.h"

namespace warpwright::app {
namespace {

using Sizes = std::map<std::string, int64_t>;

// The samples that a buffer of these extents gives.
std::vector<ExtentSample> SamplesOf(const std::vector<std::string>& shape, const std::vector<Sizes>& runs) {
  std::vector<ExtentSample> samples;
  for (const Sizes& sizes : runs) {
    ExtentSample sample{sizes, 1};
    for (const std::string& text : shape) sample.elements *= *core::Expression::Parse(text)->Evaluate(sizes);
    samples.push_back(sample);
  }
  return samples;
}

const std::vector<Sizes> kImages = {{{"N", 7}, {"C", 11}, {"H", 29}, {"W", 31}, {"K", 3}, {"pad", 1}, {"stride", 1}},
                                    {{"N", 11}, {"C", 13}, {"H", 31}, {"W", 67}, {"K", 4}, {"pad", 2}, {"stride", 1}},
                                    {{"N", 13}, {"C", 17}, {"H", 37}, {"W", 41}, {"K", 5}, {"pad", 1}, {"stride", 2}},
                                    {{"N", 17}, {"C", 19}, {"H", 41}, {"W", 103}, {"K", 3}, {"pad", 2}, {"stride", 3}},
                                    {{"N", 19}, {"C", 7}, {"H", 43}, {"W", 47}, {"K", 4}, {"pad", 1}, {"stride", 2}}};
const std::vector<std::string> kImageNames = {"N", "C", "H", "W", "K", "pad", "stride"};

TEST(FitShape, Products) {
  const std::vector<std::string> shapes[] = {
      {"N"},
      {"N", "C", "H", "W"},
      {"C", "4"},
      {"7"},
      {"C", "W", "W"},
      {"N", "C", "K", "K"},
      {"C", "K"},
      {"H", "W + 1"},
      {"N", "H - K + 1", "W - K + 1"},
      {"N", "C", "(H + 2 * pad - K) / stride + 1", "(W + 2 * pad - K) / stride + 1"},
      {"N", "(H - 1) * stride - 2 * pad + K"},
      {"N", "(H - K) / stride + 1"},
      {"N", "ceil_div(W, 32)"},
      {"ceil_div(H, 16)", "ceil_div(W, 16)"},
      {"N", "H + 2 * pad", "W + 2 * pad"},
      {"H - C"},
  };
  for (const auto& shape : shapes) {
    const std::vector<ExtentSample> samples = SamplesOf(shape, kImages);
    const auto fitted = FitShape(kImageNames, samples);
    ASSERT_TRUE(fitted) << fmt::format("{}", fmt::join(shape, ", "));
    // Another product may be as good: it must be right at sizes that were not used.
    const std::vector<Sizes> further = {
        {{"N", 5}, {"C", 23}, {"H", 59}, {"W", 61}, {"K", 6}, {"pad", 3}, {"stride", 2}},
        {{"N", 29}, {"C", 3}, {"H", 53}, {"W", 67}, {"K", 7}, {"pad", 2}, {"stride", 4}}};
    const auto want = SamplesOf(shape, further), got = SamplesOf(*fitted, further);
    for (size_t j = 0; j < further.size(); ++j)
      EXPECT_EQ(got[j].elements, want[j].elements)
          << fmt::format("{} became {}", fmt::join(shape, ", "), fmt::join(*fitted, ", "));
  }
}

TEST(FitShape, KeepsTheOrderOfTheSignature) {
  const auto fitted = FitShape(kImageNames, SamplesOf({"W", "C", "N"}, kImages));
  EXPECT_EQ(fitted, (std::vector<std::string>{"N", "C", "W"}));
}

TEST(FitShape, RefusesWhatIsNoProductAndTooFewRuns) {
  std::vector<ExtentSample> odd = SamplesOf({"N", "C"}, kImages);
  odd[2].elements += 1;
  EXPECT_EQ(FitShape(kImageNames, odd), std::nullopt);
  std::vector<ExtentSample> few = SamplesOf({"N", "C"}, kImages);
  few.resize(2);
  EXPECT_EQ(FitShape(kImageNames, few), std::nullopt);
  std::vector<ExtentSample> untouched = SamplesOf({"N"}, kImages);
  untouched[0].elements = 0;
  EXPECT_EQ(FitShape(kImageNames, untouched), std::nullopt);
  EXPECT_EQ(FitShape(kImageNames, {}), std::nullopt);
  EXPECT_EQ(FitShape({}, {{{}, 4096}}), (std::vector<std::string>{"4096"}));
}

}  // namespace
}  // namespace warpwright::app
