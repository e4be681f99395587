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

std::string Text(const ContractionSample& sample, const Schedule& schedule, const std::string& tile) {
  const Problem problem = ProblemOf(sample.form, sample.sizes);
  const Code code = CodeOf(problem, schedule, {{"tile", tile}});
  std::string text;
  for (const std::string& helper : code.helpers) text += helper;
  return text + code.kernels + "\n" + code.launch;
}

bool AllHalves(const ContractionSample& sample) {
  return sample.name.find("in f16") != std::string::npos || sample.name.find("in bf16") != std::string::npos;
}

// Each of `samples` in one of the schedule's shapes, in turn; in all of them with `all`. The number that ran.
size_t RunSamples(const Schedule& schedule, const std::vector<ContractionSample>& samples, bool all) {
  const std::vector<std::string_view>& shapes = schedule.parameters.back().values;
  const std::vector<std::string> tiles(shapes.begin() + 1, shapes.end());
  size_t ran = 0, turn = 0;
  for (const ContractionSample& sample : samples) {
    const Problem problem = ProblemOf(sample.form, sample.sizes);
    ++turn;
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (!all && i != turn % tiles.size()) continue;
      // Elements that are not copied leave no registers for it, nor do doubles.
      const bool large = tiles[i] == "128x256";
      if (large && AllHalves(sample) && sample.name.find("convolution") != std::string::npos) continue;
      if (large && sample.name.find("f64") != std::string::npos) continue;
      SCOPED_TRACE(sample.name + ", " + tiles[i]);
      const Code code = CodeOf(problem, schedule, {{"tile", tiles[i]}});
      const auto run = testing::RunOnSimulator(problem, code);
      EXPECT_EQ(run.fault, "") << code.kernels;
      EXPECT_EQ(run.mismatch, "") << code.kernels;
      ++ran;
    }
  }
  return ran;
}

// Each element is within its rigorous bound.
TEST(Tiles, ComputeWhatTheFormSays) {
  std::vector<ContractionSample> samples = testing::ContractionSamples();
  std::erase_if(samples, [](const ContractionSample& sample) {
    return sample.name == "matrix and vector" || sample.name == "three factors";
  });
  EXPECT_GE(RunSamples(TilesSchedule(), samples, false), 19u);
}

// Padding is not multiplied: 0 times infinity would be no number.
TEST(Tiles, LeaveOutWhatTheFormLeavesOut) {
  const auto run = [](const char* name, const Schedule& schedule, const char* tile) {
    const ContractionSample sample = testing::ContractionSampleOf(name);
    const Problem problem = ProblemOf(sample.form, sample.sizes);
    const auto result = testing::RunOnSimulator(problem, CodeOf(problem, schedule, {{"tile", tile}}), 40);
    EXPECT_EQ(result.fault + result.mismatch, "") << name;
  };
  run("convolution 2d", TilesSchedule(), "32x32");
  run("triangular", TilesSchedule(), "128x32");
  run("weighted", TilesSchedule(), "32x32");
  run("product", TilesSchedule(), "32x32");
  run("convolution 2d in f16", TensorTilesSchedule(), "64x64");
}

TEST(TensorTiles, ComputeWhatTheFormSays) {
  std::vector<ContractionSample> samples = testing::ContractionSamples();
  std::erase_if(samples, [](const ContractionSample& sample) { return !AllHalves(sample); });
  EXPECT_GE(RunSamples(TensorTilesSchedule(), samples, false), 3u);
  // Whole tiles, of which everything is copied ahead.
  ContractionSample aligned = testing::ContractionSampleOf("product in f16");
  aligned.sizes = {{"M", 70}, {"N", 136}, {"K", 168}};
  const Problem problem = ProblemOf(aligned.form, aligned.sizes);
  for (const char* tile : {"128x256", "64x128"}) {
    const auto run = testing::RunOnSimulator(problem, CodeOf(problem, TensorTilesSchedule(), {{"tile", tile}}));
    EXPECT_EQ(run.fault + run.mismatch, "") << tile;
  }
}

// Where the form is of such sizes alone, the launcher sees to the rest: nothing is written that never runs.
TEST(TensorTiles, HaveNoOtherWayWhereAllIsAligned) {
  const ContractionSample sample = testing::ContractionSampleOf("product in f16");
  Problem problem = ProblemOf(sample.form, {{"M", 80}, {"N", 144}, {"K", 96}});
  problem.divisors = {{"M", 16}, {"N", 16}, {"K", 16}};
  const Code code = CodeOf(problem, TensorTilesSchedule(), {{"tile", "64x64"}});
  EXPECT_EQ(code.conditions.size(), 3u);
  EXPECT_EQ(code.kernels.find("_aligned"), std::string::npos) << code.kernels;
  EXPECT_EQ(code.kernels.find("auto load"), std::string::npos) << code.kernels;
  const auto run = testing::RunOnSimulator(problem, code);
  EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels;
}

TEST(TensorTiles, RoundNothingThatTheOriginalDoesNot) {
  for (const char* name : {"product", "scaled weights", "product in f64"}) {
    const ContractionSample sample = testing::ContractionSampleOf(name);
    EXPECT_THROW(Text(sample, TensorTilesSchedule(), "64x64"), std::runtime_error) << name;
  }
}

TEST(Tiles, AreWrittenAsAPersonWould) {
  const auto expect = [](const char* name, const Schedule& schedule, const char* tile, const char* file) {
    ExpectGolden(std::string("schedules/") + file, Text(testing::ContractionSampleOf(name), schedule, tile));
  };
  expect("product with epilogue", TilesSchedule(), "128x128", "product.cu");
  expect("product in f16", TilesSchedule(), "32x32", "half_product.cu");
  expect("convolution 2d", TilesSchedule(), "32x128", "convolution.cu");
  expect("product in f16", TensorTilesSchedule(), "128x128", "tensor_product.cu");
  expect("convolution 2d in f16", TensorTilesSchedule(), "64x128", "tensor_convolution.cu");
}

}  // namespace
}  // namespace warpwright::schedule
