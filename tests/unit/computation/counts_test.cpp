#include "core/computation_counts.h"

#include <gtest/gtest.h>

#include "core/computation_structure.h"
#include "tests/unit/computation/sample_arguments.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions
using core::OperationCounts;

core::ComputationCounts CountsOf(const core::Computation& computation, const core::SizeValues& sizes) {
  const auto counts = core::CountAt(computation, sizes);
  EXPECT_TRUE(counts) << counts.error().message;
  return counts.value();
}
std::map<std::string, std::pair<uint64_t, uint64_t>> Traffic(const core::ComputationCounts& counts) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> traffic;
  for (const auto& tensor : counts.tensors) traffic[tensor.tensor] = {tensor.read, tensor.written};
  return traffic;
}
using TrafficOf = std::map<std::string, std::pair<uint64_t, uint64_t>>;

TEST(Counts, OfMatmul) {
  const auto counts = CountsOf(MatmulWithBias(), {{"M", 5}, {"N", 6}, {"K", 7}});
  EXPECT_EQ(counts.operations, (OperationCounts{.additions = 5 * 6 * 7 + 5 * 6, .multiplications = 5 * 6 * 7}));
  EXPECT_EQ(counts.terms, 210u);
  EXPECT_EQ(Traffic(counts), (TrafficOf{{"a", {35, 0}}, {"b", {42, 0}}, {"bias", {6, 0}}, {"out", {0, 30}}}));
  EXPECT_EQ(counts.read_bytes, 4u * (35 + 42 + 6));
  EXPECT_EQ(counts.written_bytes, 4u * 30);
  EXPECT_TRUE(counts.exact);
}

TEST(Counts, OfALargeMatmulAreQuick) {
  const auto counts = CountsOf(MatmulWithBias(), {{"M", 8192}, {"N", 8192}, {"K", 8192}});
  EXPECT_EQ(counts.operations.multiplications, uint64_t{8192} * 8192 * 8192);
  EXPECT_EQ(counts.tensors.at(0).read, uint64_t{8192} * 8192);
}

TEST(Counts, OfSoftmax) {
  const auto counts = CountsOf(Softmax(), {{"N", 4}, {"C", 9}});
  // Each row: a maximum over 9; exp, subtraction and addition of 9; 9 times exp, subtraction and division.
  EXPECT_EQ(counts.operations,
            (OperationCounts{.additions = 4 * 27, .divisions = 4 * 9, .functions = 4 * 18, .comparisons = 4 * 9}));
  EXPECT_EQ(Traffic(counts), (TrafficOf{{"inp", {36, 0}}, {"out", {0, 36}}}));
}

TEST(Counts, OfLayerNorm) {
  const auto counts = CountsOf(LayerNorm(), {{"N", 4}, {"C", 9}});
  // Mean: 9 additions, 1 division. Scale: 9 subtractions, squares and additions, 1 division, 1 addition, 1 root.
  // Output: 1 subtraction, 2 multiplications, 1 addition each.
  EXPECT_EQ(
      counts.operations,
      (OperationCounts{
          .additions = 4 * (9 + 18 + 1 + 18), .multiplications = 4 * (9 + 18), .divisions = 4 * 2, .functions = 4}));
}

TEST(Counts, OfGuardedReductions) {
  const core::SizeValues sizes = {{"B", 2}, {"O", 3}, {"I", 2}, {"H", 9}, {"W", 7}};
  const auto counts = CountsOf(Convolution(), sizes);
  uint64_t terms = 0;
  std::set<std::pair<int, int>> read;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 3; ++x)
      for (int u = 0; u < 3; ++u)
        for (int v = 0; v < 3; ++v) {
          const int row = 2 * y + 2 * u - 1, column = 2 * x + 2 * v - 1;
          if (row < 0 || row >= 9 || column < 0 || column >= 7) continue;
          ++terms;
          read.emplace(row, column);
        }
  EXPECT_EQ(counts.terms, terms * 2 * 3 * 2);
  EXPECT_EQ(counts.operations, (OperationCounts{.additions = terms * 12, .multiplications = terms * 12}));
  // Only odd rows and columns are ever read.
  EXPECT_EQ(Traffic(counts),
            (TrafficOf{{"inp", {read.size() * 4, 0}}, {"weight", {3 * 2 * 9, 0}}, {"out", {0, 2 * 3 * 4 * 3}}}));

  const auto scan = CountsOf(CumulativeSum(), {{"N", 3}, {"C", 8}});
  EXPECT_EQ(scan.operations, (OperationCounts{.additions = 3 * 36}));
  EXPECT_EQ(Traffic(scan), (TrafficOf{{"x", {24, 0}}, {"out", {0, 24}}}));

  const auto transposed = CountsOf(TransposedConvolution(), {{"W", 6}});
  EXPECT_EQ(transposed.terms, 18u);  // each input element meets each weight once
  EXPECT_EQ(Traffic(transposed), (TrafficOf{{"x", {6, 0}}, {"w", {3, 0}}, {"out", {0, 13}}}));
}

TEST(Counts, OfPartsOfATensor) {
  const auto causal = CountsOf(CausalSoftmax(), {{"N", 7}});
  EXPECT_EQ(Traffic(causal), (TrafficOf{{"s", {28, 0}}, {"out", {0, 49}}}));
  EXPECT_EQ(causal.operations.functions, 2u * 28);
  const auto halves = CountsOf(Piecewise(), {{"N", 9}, {"K", 4}});
  EXPECT_EQ(Traffic(halves), (TrafficOf{{"x", {9, 0}}, {"out", {0, 9}}}));
  EXPECT_EQ(halves.operations, (OperationCounts{.multiplications = 5}));
}

TEST(Counts, OfNeighbours) {
  const auto counts = CountsOf(Stencil(), {{"H", 6}, {"W", 8}});
  EXPECT_EQ(Traffic(counts), (TrafficOf{{"x", {48 - 4, 0}}, {"out", {0, 24}}}));  // all but the corners
  EXPECT_EQ(counts.operations, (OperationCounts{.additions = 24 * 3, .multiplications = 24}));
}

// Five points of a square of nine, as one sum with conditions that tie rows to columns.
TEST(Counts, OfManyTiedPointsAreBounds) {
  StageBuilder out("y", {"H-2", "W-2"});
  out.Output();
  out.Reduce(core::ReduceOp::kSum, {{2, "3"}, {3, "3"}}, out.Read("x", {V(0) + V(2), V(1) + V(3)}),
             {Within(V(2) - V(3), "-1", "2"), Within(V(2) + V(3), "1", "4")});
  core::Computation form{.tensors = {Input("x", {"H", "W"}), Output("y", {"H-2", "W-2"})}};
  form.stages.push_back(out.stage);
  form = Finished(std::move(form));
  const auto few = CountsOf(form, {{"H", 6}, {"W", 8}});
  EXPECT_EQ(Traffic(few).at("x").first, 48u - 4);
  EXPECT_TRUE(few.exact);
  for (const int64_t height : {4096, 16384}) {  // the second: more elements than are marked one by one
    const auto many = CountsOf(form, {{"H", height}, {"W", 8192}});
    EXPECT_EQ(Traffic(many).at("x").first, static_cast<uint64_t>(height) * 8192);
    EXPECT_FALSE(many.exact);
    EXPECT_EQ(many.terms, 5u * static_cast<uint64_t>(height - 2) * 8190);
  }
}

TEST(Counts, OfLongScans) {
  const auto counts = CountsOf(CumulativeSum(), {{"N", 8}, {"C", 1 << 16}});
  EXPECT_EQ(counts.read_bytes, 4u * 8 * (1 << 16));
}

TEST(Counts, OfGatheredElementsAreBounds) {
  for (const int64_t tokens : {6, 60}) {
    const auto counts = CountsOf(Embedding(), {{"T", tokens}, {"D", 5}, {"V", 11}});
    EXPECT_FALSE(counts.exact);
    const auto read = static_cast<uint64_t>(std::min<int64_t>(tokens, 11) * 5);
    EXPECT_EQ(Traffic(counts).at("table").first, read);
    EXPECT_EQ(counts.read_bytes, 4 * (read + static_cast<uint64_t>(tokens)));
  }
}

TEST(Counts, OfIntegers) {
  const auto counts = CountsOf(Histogram(), {{"N", 40}, {"B", 7}});
  EXPECT_EQ(counts.operations, (OperationCounts{.comparisons = 2 * 280, .integer = 280}));
  const auto scaled = CountsOf(InPlaceScale(), {{"N", 20}});
  EXPECT_EQ(scaled.operations, (OperationCounts{.multiplications = 20, .comparisons = 40, .conversions = 20}));
  EXPECT_EQ(scaled.read_bytes, 20u * 2 + 20);
}

TEST(Counts, HaveALimit) {
  EXPECT_EQ(core::CountAt(CumulativeSum(), {{"N", 1}, {"C", 1 << 20}}, 1000).error().code, ErrorCode::kLimit);
  const auto empty = CountsOf(Softmax(), {{"N", 0}, {"C", 3}});
  EXPECT_EQ(empty.operations, OperationCounts{});
  EXPECT_EQ(empty.read_bytes + empty.written_bytes, 0u);
}

TEST(Structure, ClassesOfTheSamples) {
  std::map<std::string, std::string> classes;
  for (const auto& sample : Samples())
    classes[sample.name] = core::Name(core::StructureOf(sample.computation).operation);
  EXPECT_EQ(classes, (std::map<std::string, std::string>{{"gelu", "elementwise"},
                                                         {"matmul with bias", "matmul"},
                                                         {"softmax", "row_normalization"},
                                                         {"layer norm", "row_normalization"},
                                                         {"convolution", "convolution"},
                                                         {"max pool", "stencil"},
                                                         {"causal softmax", "row_normalization"},
                                                         {"cumulative sum", "scan"},
                                                         {"embedding", "gather"},
                                                         {"argmax", "arg_reduction"},
                                                         {"histogram", "histogram"},
                                                         {"piecewise", "elementwise"},
                                                         {"transposition", "transpose"},
                                                         {"stencil", "stencil"},
                                                         {"attention", "attention"},
                                                         {"transposed convolution", "convolution"},
                                                         {"in-place scale", "elementwise"},
                                                         {"group norm", "row_normalization"}}));
}

TEST(Structure, ContractionDimensions) {
  using core::Contraction;
  EXPECT_EQ(core::StructureOf(MatmulWithBias()).contractions,
            (std::vector<Contraction>{{"t0", "a", "b", {}, {0}, {1}, {2}}}));
  EXPECT_EQ(core::StructureOf(Convolution()).contractions,
            (std::vector<Contraction>{{"out", "inp", "weight", {}, {0, 2, 3}, {1}, {4, 5, 6}}}));
  const auto attention = core::StructureOf(Attention()).contractions;
  ASSERT_EQ(attention.size(), 2u);
  EXPECT_EQ(attention[0], (Contraction{"t0", "q", "k", {}, {0}, {1}, {2}}));
  EXPECT_EQ(attention[1].batch, std::vector<core::VariableId>{});
  EXPECT_EQ(attention[1].m, std::vector<core::VariableId>{0});
  EXPECT_EQ(attention[1].n, std::vector<core::VariableId>{1});
  EXPECT_EQ(attention[1].right, "v");

  // A batch; a product of a matrix and a vector; sums of squares and inner products of rows are none.
  StageBuilder batched("out", {"B", "M", "N"}), vector("out", {"M"}), rows("out", {"M"});
  batched.Reduce(core::ReduceOp::kSum, {{3, "K"}},
                 batched.Product({batched.Read("a", {V(0), V(1), V(3)}), batched.Read("b", {V(0), V(3), V(2)})}));
  vector.Reduce(core::ReduceOp::kSum, {{1, "K"}},
                vector.Product({vector.Read("a", {V(0), V(1)}), vector.Read("b", {V(1)})}));
  rows.Reduce(core::ReduceOp::kSum, {{1, "K"}},
              rows.Product({rows.Read("a", {V(0), V(1)}), rows.Read("b", {V(0), V(1)})}));
  const auto of = [](StageBuilder& b) { return core::StructureOf({.stages = {b.Output().stage}}); };
  EXPECT_EQ(of(batched).contractions, (std::vector<Contraction>{{"out", "a", "b", {0}, {1}, {2}, {3}}}));
  EXPECT_EQ(of(vector).contractions, (std::vector<Contraction>{{"out", "a", "b", {}, {0}, {}, {1}}}));
  EXPECT_EQ(of(rows).contractions, std::vector<Contraction>{});
  EXPECT_EQ(of(rows).operation, core::OperationClass::kRowReduction);
}

TEST(Structure, WindowsAndAxes) {
  const auto convolution = core::StructureOf(Convolution());
  const core::Window window{"out", "inp", 2, S("3"), S("2"), S("2"), S("-1"), S("1")};
  ASSERT_EQ(convolution.windows.size(), 2u);
  EXPECT_EQ(convolution.windows[1].dimension + convolution.windows[0].dimension, 5u);
  EXPECT_NE(std::find(convolution.windows.begin(), convolution.windows.end(), window), convolution.windows.end());
  const auto transposed = core::StructureOf(TransposedConvolution());
  EXPECT_EQ(transposed.windows, (std::vector<core::Window>{{"out", "x", 0, S("3"), S("1"), S("-1"), S("0"), S("2")}}));
  const auto softmax = core::StructureOf(Softmax());
  EXPECT_EQ(softmax.axes, (std::vector<core::ReductionAxis>{{"t0", core::ReduceOp::kMax, "inp", 1, S("C")},
                                                            {"t1", core::ReduceOp::kSum, "inp", 1, S("C")}}));
}

TEST(Structure, Fusions) {
  using core::Fusion;
  EXPECT_EQ(core::StructureOf(MatmulWithBias()).fusions, (std::vector<Fusion>{{"t0", "out", Fusion::Kind::kEpilogue}}));
  EXPECT_EQ(core::StructureOf(Softmax()).fusions, (std::vector<Fusion>{{"t0", "t1", Fusion::Kind::kRow},
                                                                       {"t0", "out", Fusion::Kind::kRow},
                                                                       {"t1", "out", Fusion::Kind::kRow}}));
}

TEST(Structure, SeveralOperationsAreAComposition) {
  core::Computation two = MatmulWithBias();
  StageBuilder pool("sum", {"M"});
  pool.Reduce(core::ReduceOp::kSum, {{1, "N"}}, pool.ReadStage("t0", {V(0), V(1)}));
  two.stages.push_back(pool.stage);
  EXPECT_EQ(core::StructureOf(two).operation, core::OperationClass::kComposition);
}

}  // namespace
}  // namespace warpwright
