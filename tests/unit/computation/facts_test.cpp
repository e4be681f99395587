// What a form is at a shape: dimensions, reuse, windows, classes of shapes, and the class of what was lifted from
// strangers' code.
#include "core/computation_facts.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "core/chip.h"
#include "core/computation_digest.h"
#include "core/computation_json.h"
#include "core/evidence.h"
#include "tests/support/computation_samples.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions
using core::ComputationFacts;
using core::OperationClass;

ComputationFacts FactsOf(const core::Computation& computation, const core::SizeValues& sizes) {
  const auto facts = core::FactsAt(computation, sizes);
  EXPECT_TRUE(facts) << facts.error().message;
  return facts ? *facts : ComputationFacts();
}

core::Computation BatchedProduct() {
  StageBuilder out("out", {"B", "M", "N"});
  out.Output().Reduce(core::ReduceOp::kSum, {{3, "K"}},
                      out.Product({out.Read("a", {V(0), V(1), V(3)}), out.Read("b", {V(0), V(3), V(2)})}));
  core::Computation computation{
      .tensors = {Input("a", {"B", "M", "K"}), Input("b", {"B", "K", "N"}), Output("out", {"B", "M", "N"})}};
  computation.stages = {out.stage};
  return Finished(std::move(computation));
}
core::Computation MatrixVector() {
  StageBuilder out("out", {"M"});
  out.Output().Reduce(core::ReduceOp::kSum, {{1, "K"}},
                      out.Product({out.Read("a", {V(0), V(1)}), out.Read("x", {V(1)})}));
  core::Computation computation{.tensors = {Input("a", {"M", "K"}), Input("x", {"K"}), Output("out", {"M"})}};
  computation.stages = {out.stage};
  return Finished(std::move(computation));
}
core::Computation ColumnSums() {
  StageBuilder out("out", {"C"});
  out.Output().Reduce(core::ReduceOp::kSum, {{1, "N"}}, out.Read("x", {V(1), V(0)}));
  core::Computation computation{.tensors = {Input("x", {"N", "C"}), Output("out", {"C"})}};
  computation.stages = {out.stage};
  return Finished(std::move(computation));
}
core::Computation DepthwiseConvolution() {
  StageBuilder out("out", {"C", "H-2", "W-2"});
  out.Output().Reduce(
      core::ReduceOp::kSum, {{3, "3"}, {4, "3"}},
      out.Product({out.Read("x", {V(0), V(1) + V(3), V(2) + V(4)}), out.Read("w", {V(0), V(3), V(4)})}));
  core::Computation computation{
      .tensors = {Input("x", {"C", "H", "W"}), Input("w", {"C", "3", "3"}), Output("out", {"C", "H-2", "W-2"})}};
  computation.stages = {out.stage};
  return Finished(std::move(computation));
}
// Pairs are turned: each result is of two elements, which no other pair reads.
core::Computation Rotation() {
  StageBuilder even("out", {"N"}), odd("out", {"N"});
  for (auto* part : {&even, &odd}) {
    part->Output().stage.at = {V(0) * "2" + At(part == &even ? "0" : "1")};
    const auto x = part->Read("x", {V(0) * "2"}), y = part->Read("x", {V(0) * "2" + At("1")});
    part->Subtract({part->Product({x, part->Scalar("c")}), part->Product({y, part->Scalar("s")})});
  }
  core::Computation computation{.tensors = {Input("x", {"2*N"}), Output("out", {"2*N"})}, .scalars = {"c", "s"}};
  computation.stages = {even.stage, odd.stage};
  return Finished(std::move(computation));
}
// A product whose inner dimension is cut into S parts, which are kept and then added up.
core::Computation SplitProduct() {
  StageBuilder part("w", {"S", "M", "N"}), out("out", {"M", "N"});
  const core::Affine k = V(0) * "K" + V(3);
  part.Output().Reduce(core::ReduceOp::kSum, {{3, "K"}},
                       part.Product({part.Read("a", {V(1), k}), part.Read("b", {k, V(2)})}));
  out.Output().Reduce(core::ReduceOp::kSum, {{2, "S"}}, out.ReadStage("w", {V(2), V(0), V(1)}));
  core::Computation computation{.tensors = {Input("a", {"M", "S*K"}), Input("b", {"S*K", "N"}),
                                            Output("w", {"S", "M", "N"}), Output("out", {"M", "N"})}};
  computation.stages = {part.stage, out.stage};
  return Finished(std::move(computation));
}

TEST(Facts, OfContractions) {
  const ComputationFacts product = FactsOf(MatmulWithBias(), {{"M", 64}, {"N", 32}, {"K", 128}});
  EXPECT_EQ(product.operation, OperationClass::kMatmul);
  EXPECT_EQ(product.contraction, (core::ContractionSizes{1, 64, 32, 128}));
  EXPECT_FALSE(product.convolution || product.reduction || product.window);
  EXPECT_EQ(product.operands,
            (std::vector<core::OperandUse>{
                {"a", 64 * 128, 64 * 32 * 128}, {"b", 128 * 32, 64 * 32 * 128}, {"bias", 32, 64 * 32}}));
  EXPECT_EQ(product.operands[0].reuse(), 32) << "once for each column";
  EXPECT_EQ(product.flops(), 2.0 * 64 * 32 * 128 + 64 * 32);
  EXPECT_EQ(product.bytes(), 4.0 * (64 * 128 + 128 * 32 + 32 + 64 * 32));
  EXPECT_EQ(product.stages, 2u);
  EXPECT_EQ(product.fusable, 1u) << "the bias is an epilogue";

  EXPECT_EQ(FactsOf(BatchedProduct(), {{"B", 3}, {"M", 4}, {"N", 5}, {"K", 6}}).contraction,
            (core::ContractionSizes{3, 4, 5, 6}));
  const ComputationFacts vector = FactsOf(MatrixVector(), {{"M", 100}, {"K", 60}});
  EXPECT_EQ(vector.operation, OperationClass::kMatvec);
  EXPECT_EQ(vector.contraction, (core::ContractionSizes{1, 100, 1, 60}));
  EXPECT_EQ(FactsOf(SplitProduct(), {{"S", 4}, {"M", 4}, {"N", 5}, {"K", 6}}).operation, OperationClass::kMatmul);
}

TEST(Facts, OfConvolutions) {
  const ComputationFacts facts = FactsOf(Convolution(), {{"B", 2}, {"O", 3}, {"I", 2}, {"H", 9}, {"W", 7}});
  EXPECT_EQ(facts.operation, OperationClass::kConvolution);
  EXPECT_EQ(facts.convolution, (core::ConvolutionKind{2, false, false, false}));
  EXPECT_EQ(facts.contraction, (core::ContractionSizes{1, 2 * 4 * 3, 3, 2 * 9}));
  EXPECT_EQ(facts.window, (core::WindowSizes{9, 2}));
  const ComputationFacts depthwise = FactsOf(DepthwiseConvolution(), {{"C", 5}, {"H", 9}, {"W", 7}});
  EXPECT_EQ(depthwise.operation, OperationClass::kConvolution);
  EXPECT_EQ(depthwise.convolution, (core::ConvolutionKind{2, true, false, false}));
  EXPECT_EQ(FactsOf(TransposedConvolution(), {{"W", 6}}).convolution, (core::ConvolutionKind{1, false, false, true}));
}

// Sums that lifting wrote out, and weights that are numbers.
TEST(Facts, AConvolutionHasWeightsThatAreRead) {
  for (const bool weighed : {true, false}) {
    StageBuilder out("out", {"N"});
    const auto left = out.Read("x", {V(0)}), right = out.Read("x", {V(0) + At("1")});
    const auto first = weighed ? out.Read("w", {At("0")}) : out.Number(0.25);
    const auto second = weighed ? out.Read("w", {At("1")}) : out.Number(0.75);
    out.Output().Sum({out.Product({left, first}), out.Product({right, second})});
    EXPECT_EQ(core::StructureOf({.stages = {out.stage}}).operation,
              weighed ? OperationClass::kConvolution : OperationClass::kStencil);
  }
  StageBuilder out("out", {"N"});
  const auto weight = out.Index(V(1) * "2" + At("1"));
  out.Output().Reduce(core::ReduceOp::kSum, {{1, "3"}}, out.Product({out.Read("x", {V(0) + V(1)}), weight}));
  const core::ComputationStructure structure = core::StructureOf({.stages = {out.stage}});
  EXPECT_EQ(structure.operation, OperationClass::kStencil);
  EXPECT_TRUE(structure.contractions.empty());
}

TEST(Facts, OfReductionsAndWindows) {
  const ComputationFacts softmax = FactsOf(Softmax(), {{"N", 4}, {"C", 9}});
  EXPECT_EQ(softmax.operation, OperationClass::kRowNormalization);
  EXPECT_EQ(softmax.reduction, (core::ReductionSizes{9, 4, true}));
  EXPECT_EQ(softmax.operands, (std::vector<core::OperandUse>{{"inp", 36, 3 * 36}}));
  EXPECT_EQ(softmax.stages, 3u);
  EXPECT_EQ(softmax.fusable, 2u);
  const ComputationFacts columns = FactsOf(ColumnSums(), {{"N", 4}, {"C", 9}});
  EXPECT_EQ(columns.operation, OperationClass::kRowReduction);
  EXPECT_EQ(columns.reduction, (core::ReductionSizes{4, 9, false}));
  EXPECT_EQ(FactsOf(MaxPool(), {{"B", 2}, {"H", 8}, {"W", 6}}).window, (core::WindowSizes{9, 2}));
  EXPECT_EQ(FactsOf(Stencil(), {{"H", 6}, {"W", 8}}).window, (core::WindowSizes{4, 1}));
  EXPECT_EQ(FactsOf(Rotation(), {{"N", 6}}).operation, OperationClass::kElementwise);
  EXPECT_EQ(FactsOf(Embedding(), {{"T", 6}, {"D", 5}, {"V", 11}}).gathers, 1u);
  EXPECT_EQ(FactsOf(InPlaceScale(), {{"N", 20}}).data_branches, 1u);
  EXPECT_EQ(FactsOf(Gelu(), {{"N", 20}}).data_branches, 0u);
}

TEST(Facts, AreNoneWhereTheFormDoesNotHold) {
  core::Computation fixed = Gelu();
  fixed.assumptions = {"for inputs without NaN", "B = 2"};
  EXPECT_TRUE(core::FactsAt(fixed, {{"N", 7}, {"B", 2}}));
  const auto elsewhere = core::FactsAt(fixed, {{"N", 7}, {"B", 16}});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(elsewhere.error().message, "the form holds for B = 2");
}

TEST(Facts, ClassesOfShapesAreBucketsOfAFactorOfFour) {
  const auto of = [](int64_t m, int64_t n, int64_t k) {
    return core::ShapeClassOf(FactsOf(MatmulWithBias(), {{"M", m}, {"N", n}, {"K", k}}));
  };
  EXPECT_EQ(of(64, 32, 255), "matmul b4^0 m4^3 n4^2 k4^3 f32>f32");
  EXPECT_EQ(of(255, 63, 64), of(64, 32, 255));
  EXPECT_NE(of(256, 63, 64), of(64, 32, 255));
  EXPECT_NE(of(64, 64, 64), of(64, 32, 255));
  EXPECT_EQ(core::ShapeClassOf(FactsOf(Softmax(), {{"N", 16}, {"C", 4096}})),
            "row_normalization results4^2 terms4^6 f32>f32");
  EXPECT_EQ(core::ShapeClassOf(FactsOf(Gelu(), {{"N", 1000}})), "elementwise results4^4 f32>f32");
  EXPECT_EQ(core::ShapeClassOf(FactsOf(InPlaceScale(), {{"N", 1}})), "elementwise results4^0 f16,u8>f16");
  EXPECT_EQ(core::ShapeClassOf(FactsOf(Gelu(), {{"N", 0}})), "elementwise results4^0 >");
}

// Of what implementations share, the formula's own numbers say nothing.
TEST(Facts, AFormulaThatRepeatsWorkHasNoNumbers) {
  const core::ComputationFacts facts = FactsOf(MatmulWithBias(), {{"M", 64}, {"N", 32}, {"K", 128}});
  EXPECT_EQ(core::InWords(facts, facts.flops() / 4), core::InWords(facts));
  const auto words = core::InWords(facts, facts.flops() / 100);
  EXPECT_EQ(words.at(1), "as a formula, it repeats work that implementations share");
  EXPECT_LT(words.size(), core::InWords(facts).size());
}

TEST(Facts, InWords) {
  EXPECT_EQ(core::InWords(FactsOf(MatmulWithBias(), {{"M", 64}, {"N", 32}, {"K", 128}})),
            (std::vector<std::string>{"a matrix product, M = 64, N = 32, K = 128",
                                      "526 kflop on 57.5 kB: 9.16 flop/byte", "an element of a is used 32 times",
                                      "an element of b is used 64 times", "an element of bias is used 64 times",
                                      "2 stages, 1 of them can be fused with what reads them"}));
}

core::Chip SmallChip() {
  core::Chip chip;
  chip.multiprocessors = 10;
  chip.clock_ghz = 1;
  chip.dram_bytes_per_second = 1e12;
  chip.launch_overhead_us = 2;
  return chip;
}

TEST(FormulaRoofline, IsOfWhatTheFormulaNeedsAndNeverAboveTheOriginals) {
  ComputationFacts facts;
  facts.operations.additions = 500'000;
  facts.read_bytes = 6'000'000;
  facts.written_bytes = 2'000'000;
  core::Counters counted;
  counted.flops_fp32 = 1'000'000;
  const core::Chip chip = SmallChip();
  const core::Roofline counters = core::ComputeRoofline(chip, 10e6, counted);
  const core::Roofline formula = core::FormulaRoofline(chip, facts, counters);
  EXPECT_FALSE(counters.of_formula);
  EXPECT_TRUE(formula.of_formula);
  EXPECT_EQ(formula.min_bytes, 8e6);
  EXPECT_EQ(formula.flops, 5e5);
  EXPECT_NEAR(formula.compute_us, counters.compute_us / 2, 1e-12);
  EXPECT_NEAR(formula.floor_us, 8 + 2, 1e-9);
  EXPECT_NEAR(formula.counted_floor_us, 10 + 2, 1e-9);
  // The formula repeats what the original shares, and reads workspaces that are nobody's arguments.
  facts.operations.additions = 1'000'000'000;
  facts.read_bytes = 100'000'000;
  const core::Roofline above = core::FormulaRoofline(chip, facts, counters);
  EXPECT_EQ(above.floor_us, counters.floor_us);
  EXPECT_EQ(above.flops, counters.flops);
  // Nothing was counted, as on a device that cannot.
  EXPECT_EQ(core::FormulaRoofline(chip, facts, core::ComputeRoofline(chip, 10e6, {})).compute_us, 0);
}

TEST(FormulaEvidence, HasTheFieldsOfItsKind) {
  core::Evidence evidence;
  core::AddFormula(FactsOf(MatmulWithBias(), {{"M", 64}, {"N", 32}, {"K", 128}}), OperationClass::kMatmul, evidence);
  EXPECT_TRUE(evidence.Is("op_matmul") && evidence.Is("formula_known"));
  EXPECT_EQ(evidence.Get("contraction_m"), 64);
  EXPECT_EQ(evidence.Get("contraction_results"), 64 * 32);
  EXPECT_EQ(evidence.Get("operand_reuse_high"), 64);
  EXPECT_EQ(evidence.Get("operand_reuse_low"), 32);
  EXPECT_FALSE(evidence.Get("reduction_terms") || evidence.Get("window_taps") ||
               evidence.Get("convolution_dimensions"));
  EXPECT_EQ(evidence.shape, "matmul b4^0 m4^3 n4^2 k4^3 f32>f32");
  // A kernel of an entry that computes more than it.
  core::AddFormula(FactsOf(Attention(), {{"N", 5}, {"D", 4}}), OperationClass::kRowNormalization, evidence);
  EXPECT_TRUE(evidence.Is("op_row_normalization") && evidence.Is("entry_attention"));
  EXPECT_FALSE(evidence.Is("op_matmul"));
}

TEST(ClassOfLines, IsOfTheStagesThatAreComputedThere) {
  core::Computation attention = Attention();
  for (size_t i = 0; i < attention.stages.size(); ++i) attention.stages[i].line = static_cast<int>(10 * i + 5);
  const core::ComputationStructure structure = core::StructureOf(attention);
  const auto of = [&](int first, int last) { return core::ClassOfLines(attention, structure, first, last); };
  EXPECT_EQ(structure.operation, OperationClass::kAttention);
  EXPECT_EQ(of(1, 9), OperationClass::kMatmul);
  EXPECT_EQ(of(10, 19), OperationClass::kRowReduction);
  EXPECT_EQ(of(30, 39), OperationClass::kMatmul);
  EXPECT_EQ(of(1, 19), OperationClass::kComposition);
  EXPECT_EQ(of(40, 99), std::nullopt);
}

// tests/golden/stranger-classes.txt says what each entry of the open folders of tests/strangers computes, by reading
// it; stranger-forms.jsonl holds what lifting made of them (bench_lift --forms).
constexpr size_t kForms = 105;
TEST(Classes, OfStrangersFormsAreWhatTheirSourcesSay) {
  const std::string golden = std::string(WW_SOURCE_DIR) + "/tests/golden/";
  const auto table = base::ReadFile(golden + "stranger-classes.txt"),
             forms = base::ReadFile(golden + "stranger-forms.jsonl");
  ASSERT_TRUE(table && forms);
  std::map<std::string, std::string> classes;
  std::istringstream rows(*table), lines(*forms);
  for (std::string entry, name; rows >> entry >> name;) classes[entry] = name;
  EXPECT_EQ(classes.size(), 116u);
  size_t seen = 0;
  for (std::string line; std::getline(lines, line); ++seen) {
    const auto json = base::ParseJson(line);
    ASSERT_TRUE(json);
    const std::string entry = json->at("entry");
    const auto computation = core::DecodeComputation(base::DumpJson(json->at("computation")));
    ASSERT_TRUE(computation) << entry << ": " << computation.error().message;
    EXPECT_EQ(core::Name(core::StructureOf(*computation).operation), classes[entry]) << entry;
  }
  EXPECT_GE(seen, kForms);
}

// Naive, tiled and fast versions by strangers are one computation, and no two operations are.
constexpr size_t kTriples = 13;
TEST(Digests, OfThreeVersionsAreOne) {
  const auto forms = base::ReadFile(std::string(WW_SOURCE_DIR) + "/tests/golden/stranger-forms.jsonl");
  ASSERT_TRUE(forms);
  std::map<std::string, std::map<std::string, size_t>> digests;  // by folder and operation
  std::map<std::string, std::string> operations;                 // by digest
  std::istringstream lines(*forms);
  for (std::string line; std::getline(lines, line);) {
    const auto json = base::ParseJson(line);
    ASSERT_TRUE(json);
    const std::string entry = json->at("entry"), stem = entry.substr(0, entry.rfind('_'));
    if (!entry.ends_with("_naive") && !entry.ends_with("_tiled") && !entry.ends_with("_fast")) continue;
    const auto computation = core::DecodeComputation(base::DumpJson(json->at("computation")));
    ASSERT_TRUE(computation) << entry;
    const auto form = core::Normalize(*computation);
    ASSERT_TRUE(form) << entry;
    ++digests[stem][form->digest];
    EXPECT_EQ(operations.emplace(form->digest, stem).first->second, stem) << entry;
  }
  size_t triples = 0;
  for (const auto& [stem, versions] : digests) {
    EXPECT_EQ(versions.size(), 1u) << stem;
    triples += versions.begin()->second == 3 ? 1 : 0;
  }
  EXPECT_GE(triples, kTriples);
}

}  // namespace
}  // namespace warpwright
