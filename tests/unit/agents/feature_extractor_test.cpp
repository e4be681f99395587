#include "agents/feature_extractor.h"

#include <gtest/gtest.h>

#include "tests/support/computation_samples.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

using namespace testing;  // computations and operators on positions

class FeatureExtractorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    spec.cases = {MakeCase("small", {{"N", int64_t{8}}, {"C", int64_t{128}}}),
                  MakeCase("large", {{"N", int64_t{1024}}, {"C", int64_t{4096}}})};
    chip.id = "h200";
    chip.arch = "sm_90";
    chip.multiprocessors = 132;
    chip.clock_ghz = 1.7;
    chip.dram_bytes_per_second = 4e12;
    core::KernelInfo helper, rows;
    helper.name = "ns::helper";
    rows.name = "ns::rows";
    rows.features.operation = core::OperationClass::kRowNormalization;
    rows.features.one_thread_per_row = true;
    inspection.kernels = {helper, rows};
    measured.cases = {Of("small", 1, 5), Of("large", 1, 50)};
  }
  static core::LaunchReport Launch(const std::string& kernel, double us) {
    core::LaunchReport launch;
    launch.kernel = kernel;
    launch.time.total_us = us;
    return launch;
  }
  static core::CaseMeasurement Of(const std::string& name, double weight, double us) {
    core::CaseMeasurement c;
    c.case_name = name;
    c.weight = weight;
    c.time_us = us;
    c.launches = {Launch("ns::helper", 0.2 * us), Launch("ns::rows<float, 4>", 0.8 * us)};
    return c;
  }
  agents::ExtractedFeatures Extract(const core::Roofline* roofline = nullptr) {
    auto features =
        agents::ExtractFeaturesOf(spec, chip, inspection, measured, {.counted_roofline = roofline, .form = form});
    EXPECT_TRUE(features) << features.error().Format();
    return features ? std::move(*features) : agents::ExtractedFeatures();
  }
  const agents::Form* form = nullptr;
  core::KernelSpec spec = SoftmaxSpec(8, 128);
  core::Chip chip;
  core::Inspection inspection;
  core::Measured measured;
};

TEST_F(FeatureExtractorTest, SpeaksOfTheHottestKernelOfTheCostliestCase) {
  const agents::ExtractedFeatures features = Extract();
  EXPECT_EQ(features.case_name, "large");
  EXPECT_EQ(features.kernel, "ns::rows") << "its name in the source has no template arguments";
  EXPECT_EQ(features.evidence.operation, core::OperationClass::kRowNormalization);
  EXPECT_TRUE(features.evidence.Is("one_thread_per_row"));
  EXPECT_EQ(features.evidence.Get("kernel_time_us"), 40.0);
  EXPECT_EQ(features.evidence.Get("time_share_pct"), 80.0);
  EXPECT_EQ(features.evidence.Get("launches"), 2.0);
  EXPECT_EQ(features.evidence.chip, "h200");
  EXPECT_EQ(features.evidence.dtype, "f32");
}

TEST_F(FeatureExtractorTest, ACasesWeightCounts) {
  measured.cases[0].weight = 20;
  EXPECT_EQ(Extract().case_name, "small");
}

TEST_F(FeatureExtractorTest, TheRooflineIsTheTrafficOfThatCase) {
  const double bytes = 2.0 * 1024 * 4096 * 4;  // one buffer in, one out
  const agents::ExtractedFeatures features = Extract();
  EXPECT_EQ(features.roofline.min_bytes, bytes);
  EXPECT_NEAR(*features.evidence.Get("roofline_pct"), 100 * (bytes / 4e12 * 1e6) / 50, 1e-9);
  EXPECT_NEAR(*features.evidence.Get("headroom"), 50 / (bytes / 4e12 * 1e6), 1e-9);
}

TEST_F(FeatureExtractorTest, LaterVersionsAreHeldAgainstTheFirstOnesRoofline) {
  core::Roofline roofline;
  roofline.floor_us = 25;
  const agents::ExtractedFeatures features = Extract(&roofline);
  EXPECT_EQ(features.roofline.floor_us, 25);
  EXPECT_EQ(features.evidence.Get("roofline_pct"), 50.0);
}

TEST_F(FeatureExtractorTest, AKernelIsFoundWithoutItsNamespaceAndMayBeUnknown) {
  for (auto& launch : measured.cases[1].launches) launch.kernel = launch.kernel.substr(4);
  EXPECT_EQ(Extract().kernel, "ns::rows");
  for (auto& launch : measured.cases[1].launches) launch.kernel = "other";
  const agents::ExtractedFeatures features = Extract();
  EXPECT_EQ(features.kernel, "other");
  EXPECT_EQ(features.evidence.operation, core::OperationClass::kUnknown);
}

TEST_F(FeatureExtractorTest, TheFormulaSaysWhatItIsWhateverTheSourceLooksLike) {
  inspection.kernels[1].features.operation = core::OperationClass::kMatmul;
  measured.cases[1].launches.erase(measured.cases[1].launches.begin());
  measured.cases[1].launches[0].counters.flops_fp32 = 1000;
  const agents::Form softmax = agents::FormOf(Softmax(), inspection);
  form = &softmax;
  const agents::ExtractedFeatures features = Extract();
  EXPECT_EQ(features.evidence.operation, core::OperationClass::kRowNormalization);
  EXPECT_TRUE(features.evidence.Is("op_row_normalization"));
  EXPECT_FALSE(features.evidence.Is("op_matmul"));
  EXPECT_EQ(features.evidence.Get("reduction_terms"), 4096);
  EXPECT_EQ(features.evidence.Get("reduction_results"), 1024);
  EXPECT_EQ(features.evidence.form.size(), 64u);
  EXPECT_EQ(features.evidence.shape, "row_normalization results4^5 terms4^6 f32>f32");
  EXPECT_TRUE(features.roofline.of_formula);
  EXPECT_EQ(features.roofline.flops, 1000) << "what the original managed with";
  ASSERT_TRUE(features.formula);
  form = nullptr;
  EXPECT_FALSE(Extract().evidence.Is("formula_known"));
}

// Only the upper triangle is read: the formula needs half of what the buffers hold.
TEST_F(FeatureExtractorTest, BothRooflinesAreGivenWhereTheyDiffer) {
  StageBuilder triangle("out", {"N", "C"});
  triangle.Output().stage.domain = {Within(V(1) - V(0), "0", "")};
  triangle.Read("inp", {V(0), V(1)});
  core::Computation half{.tensors = {Output("out", {"N", "C"}), Input("inp", {"N", "C"})}};
  half.stages = {triangle.stage};
  const agents::Form copied = agents::FormOf(Finished(std::move(half)), inspection);
  form = &copied;
  spec.cases[1] = MakeCase("large", {{"N", int64_t{2048}}, {"C", int64_t{2048}}});
  const agents::ExtractedFeatures features = Extract();
  EXPECT_NEAR(features.roofline.min_bytes, features.counted_roofline.min_bytes / 2, 1e-3 * features.roofline.min_bytes);
  EXPECT_NEAR(*features.evidence.Get("roofline_pct") * 2, *features.evidence.Get("counted_roofline_pct"), 0.01);
}

TEST_F(FeatureExtractorTest, OneKernelOfSeveralIsWhatItsLinesCompute) {
  core::Computation attention = Attention();
  for (size_t i = 0; i < attention.stages.size(); ++i) attention.stages[i].line = i == 0 ? 12 : i < 3 ? 25 : 35;
  spec.cases[1].scalars = {{"N", int64_t{64}}, {"D", int64_t{16}}};
  spec.args[0] = Arg("out", Buffer(core::DType::kF32, {"N", "D"}, core::Role::kOut));
  spec.args[1] = Arg("inp", Buffer(core::DType::kF32, {"N", "D"}, core::Role::kIn));
  inspection.kernels[0].line = 10, inspection.kernels[0].end_line = 19;
  inspection.kernels[1].line = 20, inspection.kernels[1].end_line = 29;
  const agents::Form lifted = agents::FormOf(std::move(attention), inspection);
  form = &lifted;
  agents::ExtractedFeatures features = Extract();
  EXPECT_EQ(features.evidence.operation, core::OperationClass::kRowReduction)
      << "maximum and sum of the hottest kernel";
  EXPECT_TRUE(features.evidence.Is("entry_attention"));
  measured.cases[1].launches[0].time.total_us = 1000;
  EXPECT_EQ(Extract().evidence.operation, core::OperationClass::kMatmul) << "of the other one: the scores";
  // A kernel that a transformation made is nowhere in the text that was lifted: its source is all that is known.
  measured.cases[1].launches[0].kernel = "ns::helper_tiled";
  core::KernelInfo tiled;
  tiled.name = "ns::helper_tiled";
  tiled.features.operation = core::OperationClass::kUnknown;
  inspection.kernels.push_back(tiled);
  features = Extract();
  EXPECT_EQ(features.evidence.operation, core::OperationClass::kUnknown);
  EXPECT_TRUE(features.evidence.Is("formula_known"));
  inspection.kernels.pop_back();
}

TEST_F(FeatureExtractorTest, TheHottestLinesAreQuoted) {
  core::LaunchReport& launch = measured.cases[1].launches[1];
  for (int line = 1; line <= 4; ++line) {
    core::LineCounters counters;
    counters.file = "a.cu";
    counters.line = line;
    counters.warp_instructions = 25;
    counters.global_sectors = line == 1 ? 100 : 0;
    launch.lines.push_back(counters);
  }
  std::vector<std::string> lines = Extract().hot_lines;
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "a.cu:1: 25 % of the warp instructions, 100 % of the global sectors");
  launch.lines[0].samples = 60;
  launch.lines[0].stalls = {{"long_scoreboard", 45}, {"barrier", 5}};
  launch.lines[1].samples = 40;
  lines = Extract().hot_lines;
  EXPECT_EQ(lines[0], "a.cu:1: 60 % of the samples, 75 % of them long_scoreboard");
  EXPECT_EQ(lines[1], "a.cu:2: 40 % of the samples");
}

TEST_F(FeatureExtractorTest, TheLargestBufferNamesTheType) {
  spec.args[1] = Arg("in", Buffer(core::DType::kBF16, {"N", "C", "4"}, core::Role::kIn));
  EXPECT_EQ(Extract().evidence.dtype, "bf16");
}

TEST_F(FeatureExtractorTest, WithoutALaunchThereIsNothingToSay) {
  for (auto& c : measured.cases) c.launches.clear();
  const auto features = agents::ExtractFeaturesOf(spec, chip, inspection, measured);
  ASSERT_FALSE(features);
  EXPECT_EQ(features.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace warpwright
