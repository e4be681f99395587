#include <gtest/gtest.h>

#include <stdexcept>

#include "schedule/schedules.h"
#include "tests/support/contraction_samples.h"
#include "tests/support/golden.h"
#include "tests/support/schedule_kit.h"

namespace warpwright::schedule {
namespace {

using testing::CodeOf;
using testing::ContractionSample;
using testing::ProblemOf;

std::string Text(const ContractionSample& sample, const std::string& tile) {
  const Problem problem = ProblemOf(sample.form, sample.sizes);
  const Code code = CodeOf(problem, TilesSchedule(), {{"tile", tile}});
  std::string text;
  for (const std::string& helper : code.helpers) text += helper;
  return text + code.kernels + "\n" + code.launch;
}

// Every form that tiles compute, with the shapes of tiles in turn: each element is within its rigorous bound.
TEST(Tiles, ComputeWhatTheFormSays) {
  size_t ran = 0, tried = 0;
  const Schedule schedule = TilesSchedule();
  for (const auto& sample : testing::ContractionSamples()) {
    const Problem problem = ProblemOf(sample.form, sample.sizes);
    ++tried;
    for (const std::string_view tile : schedule.parameters.front().values) {
      if (tile == "auto" || ++tried % 4 != 0) continue;
      SCOPED_TRACE(sample.name + ", " + std::string(tile));
      Code code;
      try {
        code = CodeOf(problem, schedule, {{"tile", std::string(tile)}});
      } catch (const std::runtime_error& refusal) {
        const bool expected = sample.name == "matrix and vector" || sample.name == "three factors" ||
                              sample.name == "grouped convolution";
        EXPECT_TRUE(expected) << refusal.what();
        continue;
      }
      const auto run = testing::RunOnSimulator(problem, code);
      EXPECT_EQ(run.fault, "") << code.kernels;
      EXPECT_EQ(run.mismatch, "") << code.kernels;
      ++ran;
    }
  }
  EXPECT_GE(ran, 18u);
}

TEST(Tiles, AreWrittenAsAPersonWould) {
  for (const auto& [name, tile, file] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"product with epilogue", "128x128", "product.cu"},
           {"product in f16", "32x32", "half_product.cu"},
           {"convolution 2d", "32x128", "convolution.cu"}})
    ExpectGolden("schedules/" + file, Text(testing::ContractionSampleOf(name), tile));
}

}  // namespace
}  // namespace warpwright::schedule
