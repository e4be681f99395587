// Entries that no single kernel computes well: in phases, with what lies between them in memory, on the simulator.
#include <gtest/gtest.h>

#include <optional>

#include "schedule/added_sums.h"
#include "schedule/centred_squares.h"
#include "schedule/emission.h"
#include "schedule/factors_apart.h"
#include "schedule/joined_sums.h"
#include "schedule/memory_order.h"
#include "schedule/nested_sums.h"
#include "schedule/phases.h"
#include "schedule/row_blocks.h"
#include "schedule/schedules.h"
#include "schedule/short_terms.h"
#include "schedule/squared_means.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/support/golden.h"
#include "tests/support/schedule_kit.h"

namespace warpwright {
namespace {

using core::Function;
using core::ReduceOp;
using testing::Finished;
using testing::Input;
using testing::Output;
using testing::Quotient;
using testing::StageBuilder;
using testing::V;
using namespace testing;  // NOLINT: operators on positions

core::Computation FormOf(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages) {
  core::Computation form{.tensors = std::move(tensors)};
  for (const StageBuilder& builder : stages) form.stages.push_back(builder.stage);
  return Finished(std::move(form));
}

// t0[m, n] = sum_k x[m, k] * w[n, k].
StageBuilder Linear() {
  StageBuilder t0("t0", {"M", "N"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("x", {V(0), V(2)}), t0.Read("w", {V(1), V(2)})}));
  return t0;
}
std::vector<core::TensorArgument> OfLinear(std::vector<core::TensorArgument> more) {
  more.insert(more.begin(), {Input("x", {"M", "K"}), Input("w", {"N", "K"})});
  return more;
}

// Each row of the linear layer less its mean, over its deviation, which is made of the sum of squares in the same pass.
core::Computation LinearNormInOnePass(bool activated = false) {
  StageBuilder t1("t1", {"M"}), t2("t2", {"M"}), y("y", {"M", "N"});
  const auto biased = [activated](StageBuilder& stage) {
    const auto sum = stage.Sum({stage.ReadStage("t0", {V(0), V(1)}), stage.Read("bias", {V(1)})});
    return activated ? stage.Apply(Function::kTanh, {sum}) : sum;
  };
  t1.Reduce(ReduceOp::kSum, {{1, "N"}}, biased(t1));
  const auto squared = biased(t2);
  t2.Reduce(ReduceOp::kSum, {{1, "N"}}, t2.Product({squared, squared}));
  y.Output();
  const auto inverse = y.Apply(Function::kReciprocal, {y.OfSize("N")});
  const auto mean = y.Product({inverse, y.ReadStage("t1", {V(0)})});
  const auto square = y.Product({inverse, y.ReadStage("t2", {V(0)})});
  const auto variance = y.Max({y.Number(0), y.Sum({square, y.Product({y.Number(-1), mean, mean})})});
  const auto root = y.Apply(Function::kRsqrt, {y.Sum({variance, y.Number(1e-3)})});
  y.Product({y.Sum({biased(y), y.Minus(mean)}), root});
  return FormOf(OfLinear({Input("bias", {"N"}), Output("y", {"M", "N"})}), {Linear(), t1, t2, y});
}

// softmax(linear + bias), where the linear layer's results were in y before, or in memory of `more`.
core::Computation LinearSoftmax(core::DType dtype = core::DType::kF32, std::vector<core::TensorArgument> more = {}) {
  StageBuilder t1("t1", {"M"}), t2("t2", {"M"}), y("y", {"M", "N"});
  t1.Reduce(ReduceOp::kMax, {{1, "N"}}, t1.Sum({t1.ReadStage("t0", {V(0), V(1)}), t1.Read("bias", {V(1)})}));
  const auto shifted = [](StageBuilder& stage) {
    return stage.Apply(Function::kExp, {stage.Sum({stage.ReadStage("t0", {V(0), V(1)}), stage.Read("bias", {V(1)}),
                                                   stage.Minus(stage.ReadStage("t1", {V(0)}))})});
  };
  t2.Reduce(ReduceOp::kSum, {{1, "N"}}, shifted(t2));
  y.Output(dtype);
  y.Divide({shifted(y), y.ReadStage("t2", {V(0)})});
  more.insert(more.begin(), {Input("bias", {"N"}), Output("y", {"M", "N"}, dtype)});
  return FormOf(OfLinear(std::move(more)), {Linear(), t1, t2, y});
}

// A linear layer with a bias and what norms make of its rows, as lifting has it: the mean is made of two sums.
core::Computation BiasedNorm() {
  StageBuilder t1("t1", {"M"}), t2("t2", {}), t3("t3", {"M"}), y("y", {"M", "N"});
  t1.Reduce(ReduceOp::kSum, {{1, "K"}, {2, "N"}}, t1.Product({t1.Read("x", {V(0), V(1)}), t1.Read("w", {V(2), V(1)})}));
  t2.Reduce(ReduceOp::kSum, {{0, "N"}}, t2.Read("bias", {V(0)}));
  const auto biased = [](StageBuilder& stage) -> StageBuilder::Id {
    return stage.Sum({stage.ReadStage("t0", {V(0), V(1)}), stage.Read("bias", {V(1)})});
  };
  const auto term = biased(t3);
  t3.Reduce(ReduceOp::kSum, {{1, "N"}}, t3.Product({term, term}));
  y.Output();
  const auto scale = y.Apply(Function::kRsqrt, {y.Divide({y.ReadStage("t3", {V(0)}), y.OfSize("N")})});
  const auto part = [&](const char* stage, std::vector<core::Coordinate> at) {
    return y.Minus(y.Divide({y.ReadStage(stage, std::move(at)), y.OfSize("N")}));
  };
  y.Product({scale, y.Sum({biased(y), part("t1", {V(0)}), part("t2", {})})});
  return FormOf(OfLinear({Input("bias", {"N"}), Output("y", {"M", "N"})}), {Linear(), t1, t2, t3, y});
}

// The mean over groups of G neighbours subtracted, as lifting has it: with the sum of sums in one. `s` is scratch.
core::Computation LinearGroupMeans() {
  StageBuilder t1("t1", {"M", "G"}), y("y", {"M", "N"});
  const core::Affine column = V(1) * "N / G" + V(3);
  t1.Reduce(ReduceOp::kSum, {{2, "K"}, {3, "N / G"}},
            t1.Product({t1.Read("x", {V(0), V(2)}), t1.Read("w", {column, V(2)})}));
  y.Output();
  const auto mean = y.Divide({y.ReadStage("t1", {V(0), Quotient(1, "N / G")}), y.OfSize("N / G")});
  y.Subtract({y.ReadStage("t0", {V(0), V(1)}), mean});
  return FormOf(OfLinear({Output("s", {"M", "N"}), Output("y", {"M", "N"})}), {Linear(), t1, y});
}

// The smallest of a row of what group norms leave, as lifting has it: the sum of sums stands before the product, and
// the mean and the variance of a group are both needed for its elements.
core::Computation SmallestOfGroupNorms() {
  StageBuilder sums("t1", {"M", "G"}), squares("t2", {"M", "G"}), least("t3", {"M"}), y("y", {"M"});
  const core::Affine column = V(1) * "N / G" + V(3), of_group = V(1) * "N / G" + V(2);
  sums.Reduce(ReduceOp::kSum, {{2, "K"}, {3, "N / G"}},
              sums.Product({sums.Read("x", {V(0), V(2)}), sums.Read("w", {column, V(2)})}));
  const auto centred = [](StageBuilder& stage, const core::Affine& at, const core::Affine& group) {
    const auto mean = stage.Divide({stage.ReadStage("t1", {V(0), group}), stage.OfSize("N / G")});
    return stage.Subtract({stage.ReadStage("t0", {V(0), at}), mean});
  };
  const auto difference = centred(squares, of_group, V(1));
  squares.Reduce(ReduceOp::kSum, {{2, "N / G"}}, squares.Product({difference, difference}));
  const core::Affine group = Quotient(1, "N / G");
  const auto variance = least.Divide({least.ReadStage("t2", {V(0), group}), least.OfSize("N / G")});
  const auto scale = least.Apply(Function::kRsqrt, {least.Sum({variance, least.Number(1)})});
  least.Reduce(ReduceOp::kMin, {{1, "N"}}, least.Product({centred(least, V(1), group), scale}));
  y.Output();
  y.ReadStage("t3", {V(0)});
  return FormOf(OfLinear({Output("s", {"M", "N"}), Output("y", {"M"})}), {sums, Linear(), squares, least, y});
}

// A product's results, pooled by pairs: what is pooled is a column less than the scratch has where N is odd.
core::Computation PooledProduct() {
  StageBuilder t0("t0", {"M", "2 * (N / 2)"}), t1("t1", {"M", "N / 2"}), y("y", {"M", "N / 2"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("x", {V(0), V(2)}), t0.Read("w", {V(1), V(2)})}));
  t1.Reduce(ReduceOp::kSum, {{2, "2"}}, t1.Apply(Function::kTanh, {t1.ReadStage("t0", {V(0), V(1) * "2" + V(2)})}));
  y.Output();
  y.ReadStage("t1", {V(0), V(1)});
  return FormOf(OfLinear({Output("s", {"M", "N"}), Output("y", {"M", "N / 2"})}), {t0, t1, y});
}

// Transposed, of five taps that lie three apart, as lifting may have it: over all of the input, of which few terms
// count.
core::Computation SpacedTaps() {
  StageBuilder t0("t0", {"K", "L + 12"}), y("y", {"K", "L + 12"});
  const core::Affine tap = (V(1) - V(3)) / "3";
  t0.Reduce(ReduceOp::kSum, {{2, "C"}, {3, "L"}},
            t0.Product({t0.Read("x", {V(2), V(3)}), t0.Read("w", {V(2), V(0), tap})}), {Within(tap, "0", "5")});
  y.Output();
  y.ReadStage("t0", {V(0), V(1)});
  return FormOf({Input("x", {"C", "L"}), Input("w", {"C", "K", "5"}), Output("y", {"K", "L + 12"})}, {t0, y});
}

// The channels of a convolution reduced for every pixel, which nobody has memory for: the logarithm of the sum of their
// exponentials, and the largest one's index.
core::Computation ChannelsOfPixels(core::DType dtype) {
  StageBuilder t0("t0", {"B", "O", "L"}), t1("t1", {"B", "L"}), t2("t2", {"B", "L"}), t3("t3", {"B", "L"});
  const core::Affine tap = V(2) + V(4) + At("-1");
  t0.Reduce(ReduceOp::kSum, {{3, "C"}, {4, "3"}},
            t0.Product({t0.Read("x", {V(0), V(3), tap}), t0.Read("w", {V(1), V(3), V(4)})}), {Within(tap, "0", "L")});
  const auto biased = [](StageBuilder& stage) {
    return stage.Sum({stage.ReadStage("t0", {V(0), V(2), V(1)}), stage.Read("bias", {V(2)})});
  };
  t1.Reduce(ReduceOp::kMax, {{2, "O"}}, biased(t1));
  t2.Reduce(ReduceOp::kSum, {{2, "O"}},
            t2.Apply(Function::kExp, {t2.Subtract({biased(t2), t2.ReadStage("t1", {V(0), V(1)})})}));
  t3.Reduce(ReduceOp::kArgMaxFirst, {{2, "O"}}, t3.ReadStage("t0", {V(0), V(2), V(1)}), {}, V(2));
  StageBuilder y("y", {"B", "1", "L"}), at("at", {"B", "L"});
  y.Output();
  y.Sum({y.Apply(Function::kLog, {y.ReadStage("t2", {V(0), V(2)})}), y.ReadStage("t1", {V(0), V(2)})});
  at.Output(core::DType::kI32);
  at.ReadStage("t3", {V(0), V(1)});
  return FormOf({Input("x", {"B", "C", "L"}, dtype), Input("w", {"O", "C", "3"}, dtype), Input("bias", {"O"}),
                 Output("y", {"B", "1", "L"}), Output("at", {"B", "L"}, core::DType::kI32)},
                {t0, t1, t2, t3, y, at});
}

// A product of what a norm makes of its rows: of sums of a row, and of its elements.
core::Computation NormedProduct() {
  StageBuilder t0("t0", {"M"}), t1("t1", {"M", "N"}), y("y", {"M", "N"});
  t0.Reduce(ReduceOp::kSum, {{1, "K"}}, t0.Read("x", {V(0), V(1)}));
  const auto scaled = t1.Product({t1.Read("x", {V(0), V(2)}), t1.ReadStage("t0", {V(0)}), t1.Number(0.1)});
  t1.Reduce(ReduceOp::kSum, {{2, "K"}}, t1.Product({t1.Apply(Function::kTanh, {scaled}), t1.Read("w", {V(1), V(2)})}));
  y.Output();
  y.Sum({y.ReadStage("t1", {V(0), V(1)}), y.Read("b", {V(1)})});
  return FormOf({Input("x", {"M", "K"}, core::DType::kF16), Input("w", {"N", "K"}, core::DType::kF16),
                 Input("b", {"N"}), Output("h", {"M", "K"}, core::DType::kF16), Output("y", {"M", "N"})},
                {t0, t1, y});
}

// The largest of a pooled layer's channels: the weights are the same for all terms of a step, and a stride apart.
core::Computation LargestOfPooled() {
  StageBuilder t0("t0", {"B", "O"}), t1("t1", {"B"}), y("y", {"B"});
  t0.Reduce(ReduceOp::kSum, {{2, "C"}, {3, "L"}, {4, "3"}},
            t0.Product({t0.Read("x", {V(0), V(2), V(3)}), t0.Read("w", {V(2), V(1), V(4)})}));
  t1.Reduce(ReduceOp::kMax, {{1, "O"}}, t1.ReadStage("t0", {V(0), V(1)}));
  y.Output();
  y.ReadStage("t1", {V(0)});
  return FormOf({Input("x", {"B", "C", "L"}, core::DType::kF16), Input("w", {"C", "O", "3"}, core::DType::kF16),
                 Output("y", {"B"})},
                {t0, t1, y});
}

// out = mean over rows of sqrt(sum of squares): a value for each row has no memory of the entry.
core::Computation MeanOfNorms() {
  StageBuilder t0("t0", {"B"}), t1("t1", {}), out("out", {"1"});
  const auto x = t0.Read("x", {V(0), V(1)});
  t0.Reduce(ReduceOp::kSum, {{1, "D"}}, t0.Product({x, x}));
  t1.Reduce(ReduceOp::kSum, {{0, "B"}}, t1.Apply(Function::kSqrt, {t1.ReadStage("t0", {V(0)})}));
  out.Output();
  out.Divide({out.ReadStage("t1", {}), out.OfSize("B")});
  return FormOf({Input("x", {"B", "D"}), Output("out", {"1"})}, {t0, t1, out});
}

// o[b, i, d] = sum_j softmax_j(scale * q[b, i] . k[b, j]) * v[b, j, d], of the columns up to the row if it is causal;
// the weights' total divides the result or, as people have it too, each weight.
core::Computation Attention(bool causal, core::DType dtype = core::DType::kF32, const std::string& rows = "T",
                            const std::string& queries = "q") {
  StageBuilder t0("t0", {"B", rows, rows}), t1("t1", {"B", rows}), t2("t2", {"B", rows}), t3("t3", {"B", "D", rows}),
      o("o", {"B", rows, "D"});
  const auto up_to = [&](core::VariableId row, core::VariableId column) {
    return causal ? std::vector{Within(V(column) - V(row), "", "1")} : std::vector<core::Guard>{};
  };
  const auto scaled = [](StageBuilder& stage, core::VariableId row, core::VariableId column) {
    return stage.Product({stage.ReadStage("t0", {V(0), V(row), V(column)}), stage.Scalar("scale")});
  };
  const auto weight = [&](StageBuilder& stage, core::VariableId row, core::VariableId column) {
    const auto largest = stage.Minus(stage.ReadStage("t1", {V(0), V(row)}));
    return stage.Apply(Function::kExp, {stage.Sum({scaled(stage, row, column), largest})});
  };
  t0.Reduce(ReduceOp::kSum, {{3, "D"}},
            t0.Product({t0.Read(queries, {V(0), V(1), V(3)}), t0.Read("k", {V(0), V(2), V(3)})}));
  t1.Reduce(ReduceOp::kMax, {{2, rows}}, scaled(t1, 1, 2), up_to(1, 2));
  t2.Reduce(ReduceOp::kSum, {{2, rows}}, weight(t2, 1, 2), up_to(1, 2));
  std::vector<StageBuilder::Id> factors = {t3.Read("v", {V(0), V(3), V(1)}), weight(t3, 2, 3)};
  if (!causal) factors.push_back(t3.Apply(Function::kReciprocal, {t3.ReadStage("t2", {V(0), V(2)})}));
  t3.Reduce(ReduceOp::kSum, {{3, rows}}, t3.Product(factors), up_to(2, 3));
  o.Output(dtype);
  const auto sum = o.ReadStage("t3", {V(0), V(2), V(1)});
  if (causal) o.Divide({sum, o.ReadStage("t2", {V(0), V(1)})});
  const std::vector<std::string> shape = {"B", rows, "D"};
  core::Computation form = FormOf(
      {Input(queries, shape, dtype), Input("k", shape, dtype), Input("v", shape, dtype), Output("o", shape, dtype)},
      {t0, t1, t2, t3, o});
  form.scalars = {"scale"};
  return form;
}

// sum_k a[i,k] * b[j,k] of matrices.
StageBuilder ProductOf(const std::string& name, const std::string& a, const std::string& b,
                       const std::vector<std::string>& extents, const std::string& terms) {
  StageBuilder sum(name, extents);
  sum.Reduce(ReduceOp::kSum, {{2, terms}}, sum.Product({sum.Read(a, {V(0), V(2)}), sum.Read(b, {V(1), V(2)})}));
  return sum;
}

// A gated layer: what is multiplied with wd is made of two products of x, which stand in h in between.
core::Computation GatedLayer(core::DType dtype) {
  StageBuilder y("y", {"M", "D"});
  const auto gate = y.ReadStage("t0", {V(0), V(2)});
  const auto weight = y.Apply(Function::kExp, {y.Minus(gate)});
  const auto swish = y.Apply(Function::kReciprocal, {y.Sum({weight, y.Number(1)})});
  y.Output();
  y.Reduce(ReduceOp::kSum, {{2, "F"}},
           y.Product({gate, y.ReadStage("t1", {V(0), V(2)}), y.Read("wd", {V(1), V(2)}), swish}));
  return FormOf({Input("x", {"M", "K"}, dtype), Input("wg", {"F", "K"}, dtype), Input("wu", {"F", "K"}, dtype),
                 Input("wd", {"D", "F"}), Output("y", {"M", "D"}), Output("h", {"M", "F"})},
                {ProductOf("t0", "x", "wg", {"M", "F"}, "K"), ProductOf("t1", "x", "wu", {"M", "F"}, "K"), y});
}

// A hidden state made of two products of different inputs, and what is made of it, as lifting has it: written out.
core::Computation HiddenState(core::DType dtype) {
  StageBuilder next("state", {"M", "H"}), out("out", {"M", "O"});
  const auto state = [](StageBuilder& stage, core::VariableId unit) {
    return stage.Apply(Function::kTanh,
                       {stage.Sum({stage.ReadStage("t0", {V(0), V(unit)}), stage.ReadStage("t1", {V(0), V(unit)}),
                                   stage.Read("b", {V(unit)})})});
  };
  next.Output();
  state(next, 1);
  out.Output();
  const auto unit = state(out, 2);
  out.Reduce(ReduceOp::kSum, {{2, "H"}}, out.Product({unit, out.Read("wo", {V(1), V(2)})}));
  return FormOf({Input("x", {"M", "K"}, dtype), Input("h", {"M", "H"}, dtype), Input("wx", {"H", "K"}, dtype),
                 Input("wh", {"H", "H"}, dtype), Input("b", {"H"}, dtype), Input("wo", {"O", "H"}),
                 Output("state", {"M", "H"}), Output("out", {"M", "O"})},
                {ProductOf("t0", "x", "wx", {"M", "H"}, "K"), ProductOf("t1", "h", "wh", {"M", "H"}, "H"), next, out});
}

// Attention whose heads share keys and values: positions and heads are queries of the same keys.
core::Computation MultiQueryAttention(core::DType dtype) {
  StageBuilder t0("t0", {"B", "T", "H", "S"}), t1("t1", {"B", "T", "H"}), t2("t2", {"B", "T", "H"}),
      t3("t3", {"B", "T", "H", "D"}), o("o", {"B", "T", "H", "D"});
  const auto weight = [](StageBuilder& stage, core::VariableId column) {
    const auto largest = stage.Minus(stage.ReadStage("t1", {V(0), V(1), V(2)}));
    return stage.Apply(Function::kExp, {stage.Sum({stage.ReadStage("t0", {V(0), V(1), V(2), V(column)}), largest})});
  };
  t0.Reduce(ReduceOp::kSum, {{4, "D"}},
            t0.Product({t0.Read("q", {V(0), V(1), V(2), V(4)}), t0.Read("k", {V(0), V(3), V(4)})}));
  t1.Reduce(ReduceOp::kMax, {{3, "S"}}, t1.ReadStage("t0", {V(0), V(1), V(2), V(3)}));
  t2.Reduce(ReduceOp::kSum, {{3, "S"}}, weight(t2, 3));
  t3.Reduce(ReduceOp::kSum, {{4, "S"}}, t3.Product({t3.Read("v", {V(0), V(4), V(3)}), weight(t3, 4)}));
  o.Output(dtype);
  o.Divide({o.ReadStage("t3", {V(0), V(1), V(2), V(3)}), o.ReadStage("t2", {V(0), V(1), V(2)})});
  return FormOf({Input("q", {"B", "T", "H", "D"}, dtype), Input("k", {"B", "S", "D"}, dtype),
                 Input("v", {"B", "S", "D"}, dtype), Output("o", {"B", "T", "H", "D"}, dtype)},
                {t0, t1, t2, t3, o});
}

// Attention where a mask made scores -infinity: what it leaves out has the weight 0, also of an infinite value.
core::Computation MaskedAttention(core::DType dtype) {
  core::Computation form = Attention(true, dtype);
  std::get<core::Reduce>(form.stages[3].nodes.back()).guards[0].outside = core::Guard::Outside::kZero;
  return form;
}

// y[n] = sum over blocks of scale * (sum of low * x + sum of high * x'), as 4-bit weights are kept.
core::Computation ScaledBlocks() {
  StageBuilder low("t0", {"N", "B"}), high("t1", {"N", "B"}), sum("t2", {"N"}), y("y", {"N"});
  low.Reduce(core::ReduceOp::kSum, {{2, "16"}},
             low.Product({low.Read("q", {V(0), V(1), V(2)}), low.Read("x", {V(1), V(2)})}));
  high.Reduce(core::ReduceOp::kSum, {{2, "16"}},
              high.Product({high.Read("r", {V(0), V(1), V(2)}), high.Read("x", {V(1), V(2) + At("16")})}));
  const auto both = sum.Sum({sum.ReadStage("t0", {V(0), V(1)}), sum.ReadStage("t1", {V(0), V(1)})});
  sum.Reduce(core::ReduceOp::kSum, {{1, "B"}}, sum.Product({both, sum.Read("scale", {V(0), V(1)})}));
  y.Output();
  y.ReadStage("t2", {V(0)});
  const std::vector<std::string> weights = {"N", "B", "16"};
  return FormOf({Input("q", weights), Input("r", weights), Input("x", {"B", "32"}), Input("scale", {"N", "B"}),
                 Output("y", {"N"})},
                {low, high, sum, y});
}

// Two layers with biases, the first one rectified, as lifting has it: h holds the first one's results.
core::Computation TwoLayers(core::DType dtype = core::DType::kF32, bool swish = false) {
  StageBuilder t1("t1", {"M", "P"}), y("y", {"M", "P"});
  const auto biased = t1.Sum({t1.ReadStage("t0", {V(0), V(2)}), t1.Read("b", {V(2)})});
  const auto v = t1.Read("v", {V(2), V(1)});
  StageBuilder::Ids factors = {v};
  if (swish) {
    const auto power = t1.Apply(Function::kExp, {t1.Product({biased, t1.Number(-1)})});
    factors.push_back(biased);
    factors.push_back(t1.Apply(Function::kReciprocal, {t1.Sum({power, t1.Number(1)})}));
  } else {
    factors.push_back(t1.Max({biased, t1.Number(0)}));
  }
  t1.Reduce(ReduceOp::kSum, {{2, "N"}}, t1.Product(factors));
  y.Output(dtype);
  y.Sum({y.ReadStage("t1", {V(0), V(1)}), y.Read("c", {V(1)})});
  return FormOf({Input("x", {"M", "K"}, dtype), Input("w", {"N", "K"}, dtype), Input("b", {"N"}, dtype),
                 Input("v", {"N", "P"}, dtype), Input("c", {"P"}, dtype), Output("h", {"M", "N"}, dtype),
                 Output("y", {"M", "P"}, dtype)},
                {Linear(), t1, y});
}

struct Chain {
  const char* name;
  core::Computation form;
  testing::SizeNumbers sizes;
  schedule::Schedule schedule;
  size_t kernels;
  std::vector<std::string> scratch = {}, conditions = {};
  const char* golden = nullptr;
  schedule::ParameterValues parameters = {};
  uint64_t infinite = 0;                       // one in so many elements
  std::map<std::string, double> factors = {};  // of arguments
};

// sum_k x[b, k] * w[h + g * H, k] of gate g, and the same of another input.
StageBuilder Gate(const std::string& name, const std::string& input, int gate) {
  StageBuilder sum(name, {"B", "H"});
  const std::string terms = input == "x" ? "K" : "H";
  const core::Affine row = gate == 0 ? V(1) : V(1) + At(std::to_string(gate) + " * H");
  sum.Reduce(ReduceOp::kSum, {{2, terms}},
             sum.Product({sum.Read(input, {V(0), V(2)}), sum.Read("w" + input, {row, V(2)})}));
  return sum;
}
// y = tanh(x W0 + h U0 + b) / (1 + exp(x W1 + h U1)), or with the second sum of the first gate scaled by the other one.
core::Computation RecurrentCell(bool apart) {
  StageBuilder y("y", {"B", "H"});
  y.Output();
  const auto at = [&](const char* name) { return y.ReadStage(name, {V(0), V(1)}); };
  const auto gate =
      y.Apply(Function::kReciprocal, {y.Sum({y.Number(1), y.Apply(Function::kExp, {y.Sum({at("x1"), at("h1")})})})});
  const auto second = apart ? y.Product({gate, at("h0")}) : at("h0");
  y.Product({gate, y.Apply(Function::kTanh, {y.Sum({at("x0"), second, y.Read("bias", {V(1)})})})});
  return FormOf(
      {Input("x", {"B", "K"}), Input("h", {"B", "H"}), Input("wx", {"2 * H", "K"}), Input("wh", {"2 * H", "H"}),
       Input("bias", {"H"}), Output("gates", {"B", "2 * H"}), Output("more", {"B", "2 * H"}), Output("y", {"B", "H"})},
      {Gate("x0", "x", 0), Gate("h0", "h", 0), Gate("x1", "x", 1), Gate("h1", "h", 1), y});
}

// y[m, n] = sum_k x[m, k] * w[n, k] of complex numbers: the real parts and the imaginary ones.
core::Computation ComplexProduct() {
  std::vector<StageBuilder> stages;
  for (const bool imaginary : {false, true}) {
    StageBuilder& sum = stages.emplace_back(imaginary ? "t1" : "t0", std::vector<std::string>{"M", "N"});
    const core::Affine other = imaginary ? At("1") - V(3) : V(3);
    const auto sign = sum.Subtract({sum.Number(1), sum.Product({sum.Number(2), sum.Index(V(3))})});
    const auto term = sum.Product({sum.Read("x", {V(0), V(2), V(3)}), sum.Read("w", {V(1), V(2), other})});
    sum.Reduce(ReduceOp::kSum, {{2, "K"}, {3, "2"}}, imaginary ? term : sum.Product({sign, term}));
  }
  for (const bool imaginary : {false, true}) {
    StageBuilder& part = stages.emplace_back("y", std::vector<std::string>{"M", "N", "1"});
    part.Output().stage.at = {V(0), V(1), imaginary ? At("1") : At("0")};
    part.ReadStage(imaginary ? "t1" : "t0", {V(0), V(1)});
  }
  return FormOf({Input("x", {"M", "K", "2"}), Input("w", {"N", "K", "2"}), Output("y", {"M", "N", "2"})}, stages);
}

std::vector<Chain> Chains() {
  return {
      {"ComplexProduct", ComplexProduct(), {{"M", 9}, {"N", 7}, {"K", 21}}, schedule::TilesSchedule(), 2},
      // Two products, the second of which adds to the first, and what becomes of them.
      {"RecurrentCell",
       RecurrentCell(false),
       {{"B", 5}, {"H", 70}, {"K", 90}},
       schedule::TilesSchedule(),
       3,
       {"gates"},
       {},
       "recurrent_cell.cu"},
      {"RecurrentCellInTwoBuffers",
       RecurrentCell(true),
       {{"B", 5}, {"H", 70}, {"K", 90}},
       schedule::TilesSchedule(),
       3,
       {"gates", "more"}},
      {"LinearSoftmax", LinearSoftmax(), {{"M", 5}, {"N", 300}, {"K", 19}}, schedule::TilesSchedule(), 2},
      // Behind the product, where the rows' own schedule is asked for.
      {"LinearSoftmaxByRows", LinearSoftmax(), {{"M", 5}, {"N", 37}, {"K", 19}}, schedule::RowsSchedule(), 2},
      {"LinearSoftmaxInOne",
       LinearSoftmax(),
       {{"M", 70}, {"N", 37}, {"K", 19}},
       schedule::TilesSchedule(),
       1,
       {},
       {"N <= 64"}},
      {"ChannelsOfPixels",
       ChannelsOfPixels(core::DType::kF16),
       {{"B", 2}, {"L", 70}, {"O", 37}, {"C", 16}},
       schedule::TensorTilesSchedule(),
       1,
       {},
       {"O <= 128"},
       "channels_of_pixels.cu"},
      {"NormedProduct", NormedProduct(), {{"M", 21}, {"N", 40}, {"K", 300}}, schedule::TensorTilesSchedule(), 2, {"h"}},
      {"LargestOfPooled",
       LargestOfPooled(),
       {{"B", 9}, {"C", 5}, {"O", 100}, {"L", 40}},
       schedule::TensorTilesSchedule(),
       1,
       {},
       {"O <= 128"}},
      {"ChannelsOfInfinities",
       ChannelsOfPixels(core::DType::kF16),
       {{"B", 2}, {"L", 70}, {"O", 37}, {"C", 16}},
       schedule::TensorTilesSchedule(),
       1,
       {},
       {"O <= 128"},
       nullptr,
       {},
       100},
      {"LinearGroupMeans",
       LinearGroupMeans(),
       {{"M", 3}, {"N", 12}, {"K", 7}, {"G", 3}},
       schedule::RowsSchedule(),
       2,
       {"s"},
       {},
       "linear_group_means.cu"},
      {"SmallestOfGroupNorms",
       SmallestOfGroupNorms(),
       {{"M", 3}, {"N", 12}, {"K", 7}, {"G", 3}},
       schedule::TilesSchedule(),
       3,
       {"s"}},
      {"SpacedTaps", SpacedTaps(), {{"K", 5}, {"L", 23}, {"C", 4}}, schedule::TilesSchedule(), 1},
      {"BiasedNorm", BiasedNorm(), {{"M", 5}, {"N", 37}, {"K", 19}}, schedule::RowsSchedule(), 2},
      {"TwoLayers",
       TwoLayers(),
       {{"M", 5}, {"N", 37}, {"K", 19}, {"P", 11}},
       schedule::TilesSchedule(),
       2,
       {"h"},
       {"y != v"}},
      {"TwoLayersOfSwish",
       TwoLayers(core::DType::kF32, true),
       {{"M", 5}, {"N", 37}, {"K", 19}, {"P", 11}},
       schedule::TilesSchedule(),
       2,
       {"h"},
       {"y != v"}},
      {"PooledProduct", PooledProduct(), {{"M", 5}, {"N", 37}, {"K", 19}}, schedule::TilesSchedule(), 2, {"s"}},
      {"Attention",
       Attention(false),
       {{"B", 2}, {"T", 70}, {"D", 20}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 32"},
       nullptr,
       {{"tile", "32"}}},
      {"CausalAttention",
       Attention(true),
       {{"B", 1}, {"T", 130}, {"D", 9}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       "causal_attention.cu"},
      {"AttentionInHalves",
       Attention(false, core::DType::kF16),
       {{"B", 2}, {"T", 70}, {"D", 20}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 32"}},
      // Arguments that have the names of what kernels declare.
      {"AttentionOfNames",
       Attention(false, core::DType::kF32, "n", "query"),
       {{"B", 1}, {"n", 40}, {"D", 20}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 32"}},
      {"CausalAttentionInHalves",
       Attention(true, core::DType::kF16),
       {{"B", 1}, {"T", 130}, {"D", 48}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 48"},
       "causal_half_attention.cu"},
      {"CausalAttentionOfInfinities",
       Attention(true, core::DType::kBF16),
       {{"B", 1}, {"T", 70}, {"D", 16}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       nullptr,
       {},
       500},
      {"CausalAttentionOfLargeScores",
       Attention(true, core::DType::kBF16),
       {{"B", 1}, {"T", 70}, {"D", 16}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       nullptr,
       {},
       0,
       {{"q", 1e30}, {"k", 1e10}, {"scale", 1e-38}}},  // too large for f32 before they are scaled
      {"CausalAttentionOfLargeScoresInFloats",
       Attention(true, core::DType::kF32),
       {{"B", 1}, {"T", 70}, {"D", 9}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       nullptr,
       {},
       0,
       {{"q", 1e30}, {"k", 1e10}, {"scale", 1e-38}}},  // too large for f32 before they are scaled
      {"GatedLayer",
       GatedLayer(core::DType::kF16),
       {{"M", 21}, {"F", 40}, {"K", 37}, {"D", 19}},
       schedule::TensorTilesSchedule(),
       2,
       {"h"},
       {"y != wd"},
       "gated_layer.cu"},
      {"GatedLayerOfFloats",
       GatedLayer(core::DType::kF32),
       {{"M", 21}, {"F", 40}, {"K", 37}, {"D", 19}},
       schedule::TilesSchedule(),
       2,
       {"h"},
       {"y != wd"}},
      {"HiddenState",
       HiddenState(core::DType::kF16),
       {{"M", 21}, {"H", 40}, {"K", 37}, {"O", 19}},
       schedule::TensorTilesSchedule(),
       2},
      {"MultiQueryAttention",
       MultiQueryAttention(core::DType::kBF16),
       {{"B", 2}, {"T", 70}, {"H", 3}, {"S", 40}, {"D", 16}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"}},
      {"MaskedAttentionOfInfinities",
       MaskedAttention(core::DType::kF16),
       {{"B", 1}, {"T", 70}, {"D", 16}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       nullptr,
       {},
       500},
      {"MaskedAttentionOfInfinitiesInFloats",
       MaskedAttention(core::DType::kF32),
       {{"B", 1}, {"T", 70}, {"D", 9}},
       schedule::AttentionSchedule(),
       1,
       {},
       {"D <= 16"},
       nullptr,
       {},
       500},
      {"LinearNormInOnePass", LinearNormInOnePass(), {{"M", 19}, {"N", 70}, {"K", 33}}, schedule::RowsSchedule(), 2},
      {"LinearActivationNorm",
       LinearNormInOnePass(true),
       {{"M", 19}, {"N", 70}, {"K", 33}},
       schedule::RowsSchedule(),
       2},
      {"ScaledBlocks", ScaledBlocks(), {{"N", 9}, {"B", 21}}, schedule::RowsSchedule(), 1},
      {"MeanOfNorms", MeanOfNorms(), {{"B", 9}, {"D", 70}}, schedule::RowsSchedule(), 2, {}, {"B <= 262144"}},
  };
}

schedule::Problem ChainProblem(const Chain& row, schedule::TakenNames& names) {
  schedule::Problem problem = testing::ProblemOf(row.form, row.sizes);
  for (const core::TensorArgument& tensor : row.form.tensors) {
    const bool scratch = std::find(row.scratch.begin(), row.scratch.end(), tensor.name) != row.scratch.end();
    core::BufferArgument buffer{.dtype = tensor.dtype, .shape = tensor.shape};
    buffer.role = scratch ? core::Role::kScratch : tensor.written ? core::Role::kOut : core::Role::kIn;
    problem.input.spec.args.push_back({.name = tensor.name, .kind = std::move(buffer)});
  }
  problem.fresh_name = [&names](const std::string& base) {
    std::string name = base;
    for (int i = 2; !names.given.insert(name).second; ++i) name = base + std::to_string(i);
    return name;
  };
  return problem;
}

class Phases : public ::testing::TestWithParam<Chain> {};

TEST_P(Phases, ComputeWhatTheFormSays) {
  const Chain& row = GetParam();
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(row, names);
  schedule::ParameterValues parameters = row.parameters;
  for (const auto& parameter : row.schedule.parameters) parameters.emplace(parameter.name, parameter.values.front());
  const auto outcome = schedule::Emit(problem, row.schedule, false, parameters, names);
  const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome);
  ASSERT_EQ(refusal, nullptr) << refusal->reason;
  const auto& code = std::get<schedule::Code>(outcome);
  const auto run = testing::RunOnSimulator(problem, code, row.infinite, {}, row.factors);
  EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels << code.launch;
  EXPECT_EQ(code.conditions, row.conditions);
  EXPECT_EQ(code.launch.find("_results, 16)"), std::string::npos) << "a launcher has no address of it\n" << code.launch;
  size_t kernels = 0;
  for (size_t at = code.launch.find("<<<"); at != std::string::npos; at = code.launch.find("<<<", at + 1)) ++kernels;
  EXPECT_GE(kernels, row.kernels) << code.launch;
  if (row.golden != nullptr) ExpectGolden(std::string("schedules/") + row.golden, code.kernels + "\n" + code.launch);
}

// A filter of each channel of rows that have their channels last: as lifting has it, channels first.
TEST(MemoryOrder, PutsLastWhatLiesSideBySide) {
  StageBuilder t0("t0", {"E", "H"}), y("y", {"H", "E"});
  t0.Reduce(ReduceOp::kSum, {{2, "3"}}, t0.Product({t0.Read("x", {V(1) + V(2), V(0)}), t0.Read("w", {V(2), V(0)})}));
  y.Output();
  y.ReadStage("t0", {V(1), V(0)});
  const core::Computation form =
      FormOf({Input("x", {"H + 2", "E"}), Input("w", {"3", "E"}), Output("y", {"H", "E"})}, {t0, y});
  const schedule::Problem problem = testing::ProblemOf(form, {{"H", 9}, {"E", 5}});
  const core::Computation ordered = schedule::WithMemoryOrder(problem, form);
  ASSERT_TRUE(core::Validate(ordered));
  EXPECT_EQ(ordered.stages[0].extents[0].text(), "H");
  EXPECT_EQ(std::get<core::TensorRead>(ordered.stages[1].nodes[0]).at, (std::vector<core::Coordinate>{V(0), V(1)}));
  EXPECT_EQ(std::get<core::TensorRead>(ordered.stages[0].nodes[0]).at,
            (std::vector<core::Coordinate>{V(0) + V(2), V(1)}));
}

// New channels stand where those were that are summed.
TEST(MemoryOrder, PutsNewChannelsWhereTheOldOnesWere) {
  for (const bool channels_last : {false, true}) {
    StageBuilder t0("t0", {"H", "E", "N"}), y("y", {"N", "E", "H"});
    const core::Affine pixel = V(0) * "2";
    t0.Reduce(ReduceOp::kSum, {{3, "C"}},
              t0.Product({channels_last ? t0.Read("x", {V(2), pixel, V(3)}) : t0.Read("x", {V(2), V(3), pixel}),
                          t0.Read("w", {V(1), V(3)})}));
    y.Output();
    y.ReadStage("t0", {V(2), V(1), V(0)});
    const std::vector<std::string> shape =
        channels_last ? std::vector<std::string>{"N", "2 * H", "C"} : std::vector<std::string>{"N", "C", "2 * H"};
    const core::Computation form =
        FormOf({Input("x", shape), Input("w", {"E", "C"}), Output("y", {"N", "E", "H"})}, {t0, y});
    const schedule::Problem problem = testing::ProblemOf(form, {{"H", 9}, {"E", 5}, {"N", 3}, {"C", 4}});
    const core::Computation ordered = schedule::WithMemoryOrder(problem, form);
    ASSERT_TRUE(core::Validate(ordered));
    std::string extents;
    for (const core::Size& extent : ordered.stages[0].extents) extents += extent.text();
    // Sums over rows of C have no pixels side by side: nothing is moved there.
    EXPECT_EQ(extents, channels_last ? "HEN" : "NEH");
  }
}

// Pooled channels are stored, and not what a product makes of each of them; and a pool walks along its rows, though
// weights lie across them.
TEST(Cuts, PooledChannelsAreStoredOnce) {
  StageBuilder t0("t0", {"B", "C"}), t1("t1", {"B", "R"}), t2("t2", {"B", "C"}), y("y", {"B", "C", "L"});
  t0.Reduce(ReduceOp::kSum, {{2, "L"}}, t0.Read("x", {V(0), V(1), V(2)}));
  t1.Reduce(ReduceOp::kSum, {{2, "C"}}, t1.Product({t1.ReadStage("t0", {V(0), V(2)}), t1.Read("w", {V(1), V(2)})}));
  t2.Reduce(ReduceOp::kSum, {{2, "R"}},
            t2.Product({t2.Max({t2.ReadStage("t1", {V(0), V(2)}), t2.Number(0)}), t2.Read("v", {V(1), V(2)})}));
  y.Output();
  y.Product({y.Read("x", {V(0), V(1), V(2)}), y.ReadStage("t2", {V(0), V(1)})});
  Chain chain{"SqueezeExcite",
              FormOf({Input("x", {"B", "C", "L"}), Input("w", {"R", "C"}), Input("v", {"C", "R"}),
                      Output("pooled", {"B", "C"}), Output("y", {"B", "C", "L"})},
                     {t0, t1, t2, y}),
              {{"B", 3}, {"C", 40}, {"L", 300}, {"R", 4}},
              schedule::RowsSchedule(),
              3,
              {"pooled"}};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  const auto outcome = schedule::Emit(problem, chain.schedule, false, {{"threads", "auto"}}, names);
  const auto* code = std::get_if<schedule::Code>(&outcome);
  ASSERT_NE(code, nullptr) << std::get<core::RewriteRefusal>(outcome).reason;
  EXPECT_NE(code->kernels.find("// pooled[i0,i1] = sum_{r0<L} x[i0,i1,r0]"), std::string::npos) << code->kernels;
  EXPECT_EQ(code->kernels.find("_columns("), std::string::npos) << code->kernels;
  const auto run = testing::RunOnSimulator(problem, *code);
  EXPECT_EQ(run.fault + run.mismatch, "") << code->kernels << code->launch;
}

// 215,264 elements of a group, squared, are more than 32 bits hold.
TEST(Expressions, SquaresOfCountsHave64Bits) {
  StageBuilder y("y", {"M"});
  y.Output();
  y.Product({y.Read("x", {V(0)}),
             y.Apply(Function::kReciprocal, {y.Product({y.OfSize("C * (H - 2)"), y.OfSize("C * (H - 2)")})})});
  const core::Computation form = FormOf({Input("x", {"M"}), Input("z", {"C", "H"}), Output("y", {"M"})}, {y});
  const schedule::Problem problem = testing::ProblemOf(form, {{"M", 70}, {"C", 300}, {"H", 1002}});
  const schedule::Code code = testing::CodeOf(problem, schedule::MapSchedule());
  const auto run = testing::RunOnSimulator(problem, code);
  EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels;
}

// What rows are longer than a tile is reduced tile by tile, the product of each computed once for each pass.
TEST(RowsOfProducts, LongerThanATile) {
  struct Row {
    core::DType dtype;
    schedule::Schedule schedule;
    int64_t channels;
  };
  for (const Row& row : {Row{core::DType::kF16, schedule::TensorTilesSchedule(), 16},
                         Row{core::DType::kF32, schedule::TilesSchedule(), 5}}) {
    const Chain chain{
        "", ChannelsOfPixels(row.dtype), {{"B", 2}, {"L", 9}, {"O", 300}, {"C", row.channels}}, row.schedule, 1};
    schedule::TakenNames names;
    schedule::Problem problem = ChainProblem(chain, names);
    schedule::ParameterValues parameters;
    for (const auto& parameter : row.schedule.parameters) parameters.emplace(parameter.name, parameter.values.front());
    const std::vector<schedule::Group> groups = schedule::GroupsOf(problem.form, schedule::Joining::kNeeded);
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<core::RewriteRefusal>(row.schedule.emit(problem, groups[0], parameters)));
    problem.rows_in_turns = true;
    const auto outcome = row.schedule.emit(problem, groups[0], parameters);
    const auto* code = std::get_if<schedule::Code>(&outcome);
    ASSERT_NE(code, nullptr) << std::get<core::RewriteRefusal>(outcome).reason;
    EXPECT_EQ(code->conditions, std::vector<std::string>{});
    for (const uint64_t infinite : {0, 100}) {
      const auto run = testing::RunOnSimulator(problem, *code, infinite);
      EXPECT_EQ(run.fault + run.mismatch, "") << code->kernels << code->launch;
    }
  }
}

// One pass over the rows, and one kernel for them.
TEST(RowBlocks, OfSumsAreOneSum) {
  const core::Computation blocks = schedule::WithRowBlocks(RecurrentCell(true));
  ASSERT_EQ(blocks.stages.size(), 3u);
  EXPECT_EQ(blocks.stages[0].name, "x0");
  EXPECT_EQ(blocks.stages[0].extents[1].text(), "2*H");
  EXPECT_EQ(schedule::WithAddedSums(blocks), blocks) << "the second is needed by itself";
  const core::Computation added = schedule::WithAddedSums(schedule::WithRowBlocks(RecurrentCell(false)));
  ASSERT_EQ(added.stages.size(), 4u);
  EXPECT_FALSE(core::HasReduction(added.stages[2]));
}

TEST(Sums, OverTheSameTermsAreOne) {
  const core::Computation form = schedule::WithJoinedSums(schedule::WithNestedSums(BiasedNorm()));
  ASSERT_TRUE(core::Validate(form));
  for (const char* gone : {"t1", "t2"}) EXPECT_EQ(form.FindStage(gone), nullptr) << gone;
  const core::Stage* joined = form.FindStage("t1_and_t2");
  ASSERT_NE(joined, nullptr);
  EXPECT_TRUE(schedule::ReadsTensor(*joined, "t0", true));
  EXPECT_TRUE(schedule::ReadsTensor(*joined, "bias", false));
}

TEST(Sums, HaveNamesOfTheirOwn) {
  core::Computation form = BiasedNorm();
  form.scalars.emplace_back("t1_and_t2");
  form = schedule::WithJoinedSums(schedule::WithNestedSums(std::move(form)));
  EXPECT_EQ(form.FindStage("t1_and_t2"), nullptr);
  EXPECT_NE(form.FindStage("t1_and_t2_2"), nullptr);
}

TEST(Terms, OfWhichFewCountAreThese) {
  const core::Computation form = schedule::WithShortTerms(SpacedTaps());
  ASSERT_TRUE(core::Validate(form));
  const auto& reduce = std::get<core::Reduce>(form.stages[0].nodes.back());
  EXPECT_EQ(reduce.variables[1].extent.text(), "5");
  EXPECT_EQ(reduce.guards.size(), 1u) << "that it is an element";
}

// The mean and the product are needed for the variance, and with it.
TEST(Cuts, ReductionsThatBothSidesNeedAreCutTogether) {
  const Chain chain{
      "", SmallestOfGroupNorms(), {{"M", 3}, {"N", 12}, {"K", 7}, {"G", 3}}, schedule::TilesSchedule(), 3, {"s"}};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  const auto places = schedule::PlacesToCut(schedule::WithNestedSums(chain.form));
  const auto place = std::find_if(places.begin(), places.end(), [](const schedule::PlaceToCut& cut) {
    return cut.together && cut.computation.stages[cut.stage].name == "t2";
  });
  ASSERT_NE(place, places.end());
  const auto phases = schedule::CutAt(problem, *place);
  ASSERT_TRUE(phases);
  EXPECT_NE(phases->first.FindStage("s"), nullptr);
  EXPECT_EQ(phases->conditions.size(), 2u) << "arrays for mean and variance";
  for (const char* stage : {"t0", "t1", "t2"}) EXPECT_EQ(phases->second.FindStage(stage), nullptr) << stage;
}

// What a norm's statistics and the norm itself need of an activation is computed once, where its sums are.
TEST(Cuts, FunctionsOfSumsAreStoredFinished) {
  const core::Computation form = schedule::WithCentredSquares(LinearNormInOnePass(true));
  const schedule::PlaceToCut place = schedule::PlacesToCut(form).front();
  const core::Stage& finished = place.computation.stages[place.stage];
  EXPECT_TRUE(schedule::ReadsTensor(finished, "t0", true));
  EXPECT_TRUE(schedule::ReadsTensor(finished, "bias", false));
  ASSERT_TRUE(core::Validate(place.computation));
  for (size_t s = place.stage + 1; s < place.computation.stages.size(); ++s) {
    EXPECT_TRUE(schedule::ReadsTensor(place.computation.stages[s], finished.name, true));
    EXPECT_FALSE(schedule::ReadsTensor(place.computation.stages[s], "t0", true));
    EXPECT_FALSE(schedule::ReadsTensor(place.computation.stages[s], "bias", false));
  }
  EXPECT_TRUE(schedule::FunctionsApart(LinearNormInOnePass()).empty()) << "a bias is no function";
}

// Of what was computed; of inputs as they stand one pass is enough.
TEST(Variances, AreOfDeviationsFromTheMean) {
  const core::Computation form = LinearNormInOnePass();
  const core::Computation centred = schedule::WithCentredSquares(form);
  ASSERT_TRUE(core::Validate(centred));
  ASSERT_EQ(centred.stages.size(), form.stages.size());
  EXPECT_EQ(centred.stages[1], form.stages[1]);
  EXPECT_TRUE(schedule::ReadsTensor(centred.stages[2], "t1", true)) << "the mean";
  EXPECT_EQ(schedule::WithCentredSquares(centred), centred);

  core::Computation of_input = form;
  for (core::Stage& stage : of_input.stages)
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && read->tensor == "t0")
        *read = {"z", false, read->at};
  of_input.tensors.push_back(Input("z", {"M", "N"}));
  EXPECT_EQ(schedule::WithCentredSquares(of_input), of_input);

  core::Computation others = form;  // the sum of squares is a result as well
  StageBuilder moment("u", {"M"});
  moment.Output();
  moment.ReadStage("t2", {V(0)});
  others.stages.push_back(moment.stage);
  others.tensors.push_back(Output("u", {"M"}));
  EXPECT_EQ(schedule::WithCentredSquares(others), others);
}

// y = s * s / (n * n): of the mean, whose square is finite where that of the sum is not.
TEST(Means, AreFormedBeforeTheyAreSquared) {
  for (const bool one_size : {true, false}) {  // or a product of two, as of (H - 2) * (W - 2)
    StageBuilder t0("t0", {"M"}), y("y", {"M"});
    t0.Reduce(ReduceOp::kSum, {{1, "N"}}, t0.Read("x", {V(0), V(1)}));
    y.Output();
    const auto sum = y.ReadStage("t0", {V(0)});
    const auto root = one_size ? 0 : y.OfSize("2*N");
    const auto square = one_size ? y.OfSize("4 * N * N") : y.Product({root, root});
    y.Product({y.Product({y.Number(3), y.Apply(Function::kReciprocal, {square})}), y.Product({sum, sum})});
    const core::Computation form = FormOf({Input("x", {"M", "N"}), Output("y", {"M"})}, {t0, y});
    const core::Computation means = schedule::WithSquaredMeans(form);
    ASSERT_TRUE(core::Validate(means));
    EXPECT_EQ(means.stages[0], form.stages[0]);
    const core::Stage& squared = means.stages[1];
    const auto& product = std::get<core::Nary>(squared.nodes.back());
    ASSERT_EQ(product.args.size(), 3u);
    EXPECT_EQ(product.args[0], product.args[1]);
    const auto& mean = std::get<core::Nary>(squared.nodes[product.args[0]]);
    const auto& inverse = std::get<core::Call>(squared.nodes[mean.args[0]]);
    const core::Size& size = std::get<core::SizeValue>(squared.nodes[inverse.args[0]]).size;
    EXPECT_TRUE(schedule::Equal(size, *core::Size::Parse("2 * N"))) << size.text();
    EXPECT_EQ(schedule::WithSquaredMeans(means), means);
  }
}

// What the second layer reads is rectified where it is made, and so both are products of half numbers.
TEST(Cuts, FactorsAreStoredFinished) {
  const Chain chain{"",
                    TwoLayers(core::DType::kF16),
                    {{"M", 5}, {"N", 37}, {"K", 19}, {"P", 11}},
                    schedule::TensorTilesSchedule(),
                    2,
                    {"h"}};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  const auto phases = schedule::CutAt(problem, schedule::PlacesToCut(chain.form).front());
  ASSERT_TRUE(phases);
  EXPECT_NE(phases->first.FindStage("h"), nullptr);
  EXPECT_TRUE(phases->first.FindTensor("b")->read);
  const core::Stage* second = phases->second.FindStage("t1");
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(schedule::ReadsTensor(*second, "h", false));
  EXPECT_FALSE(schedule::ReadsTensor(*second, "b", false));
}

// A swish is two factors of the product, made of the same sums: one is stored.
TEST(Cuts, FactorsOfTheSameSumsAreStoredAsOne) {
  const Chain chain{"",
                    TwoLayers(core::DType::kF16, /*swish=*/true),
                    {{"M", 5}, {"N", 37}, {"K", 19}, {"P", 11}},
                    schedule::TensorTilesSchedule(),
                    2,
                    {"h"}};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  const auto phases = schedule::CutAt(problem, schedule::PlacesToCut(chain.form).front());
  ASSERT_TRUE(phases);
  const core::Stage* second = phases->second.FindStage("t1");
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(schedule::ReadsTensor(*second, "h", false));
  EXPECT_FALSE(schedule::ReadsTensor(*second, "b", false));
  const auto& product = std::get<core::Nary>(second->nodes[std::get<core::Reduce>(second->nodes.back()).body]);
  EXPECT_EQ(product.args.size(), 2u);
}

// relu(q k') v of the columns up to the row: what is kept is scaled and rectified, and where it is kept in 16 bits,
// what the scale would bring back into range does not overflow.
TEST(Cuts, FactorsOfATriangleAreStoredFinished) {
  StageBuilder t0("t0", {"T", "T"}), y("y", {"T", "D"});
  t0.Reduce(ReduceOp::kSum, {{2, "D"}}, t0.Product({t0.Read("q", {V(0), V(2)}), t0.Read("k", {V(1), V(2)})}));
  t0.stage.domain = {Within(V(1) - V(0), "", "1")};
  const auto scaled = y.Product({y.ReadStage("t0", {V(0), V(2)}), y.Scalar("scale")});
  y.Output(core::DType::kF16);
  y.Reduce(ReduceOp::kSum, {{2, "T"}}, y.Product({y.Max({scaled, y.Number(0)}), y.Read("v", {V(2), V(1)})}),
           {Within(V(2) - V(0), "", "1")});
  const auto of_half = [](const char* name, const std::vector<std::string>& shape) {
    return Input(name, shape, core::DType::kF16);
  };
  core::Computation form =
      FormOf({of_half("q", {"T", "D"}), of_half("k", {"T", "D"}), of_half("v", {"T", "D"}),
              Output("kept", {"T", "T"}, core::DType::kF16), Output("y", {"T", "D"}, core::DType::kF16)},
             {t0, y});
  form.scalars = {"scale"};
  const Chain chain{"", form, {{"T", 37}, {"D", 16}}, schedule::TensorTilesSchedule(), 2, {"kept"}};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  const auto phases = schedule::CutAt(problem, schedule::PlacesToCut(chain.form).front());
  ASSERT_TRUE(phases);
  const core::Stage* second = phases->second.FindStage("y");
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(schedule::ReadsTensor(*second, "kept", false));
  EXPECT_TRUE(std::none_of(second->nodes.begin(), second->nodes.end(),
                           [](const core::Node& node) { return std::holds_alternative<core::ScalarRead>(node); }));
}

// As a layer's old channels beside its new ones: of either there may be none.
TEST(Launches, OfResultsThatMayBeNoneBesideOthersAreAskedFor) {
  StageBuilder y("y", {"M", "N"}), z("z", {"M", "P"});
  y.Output();
  y.Product({y.Read("x", {V(0), V(1)}), y.Number(2)});
  z.Output();
  z.Product({z.Read("w", {V(0), V(1)}), z.Number(3)});
  const core::Computation form = FormOf(
      {Input("x", {"M", "N"}), Input("w", {"M", "P"}), Output("y", {"M", "N"}), Output("z", {"M", "P"})}, {y, z});
  const Chain chain{"", form, {{"M", 5}, {"N", 37}, {"P", 11}}, schedule::MapSchedule(), 2};
  schedule::TakenNames names;
  const schedule::Problem problem = ChainProblem(chain, names);
  schedule::ParameterValues parameters;
  for (const auto& parameter : chain.schedule.parameters) parameters.emplace(parameter.name, parameter.values.front());
  const auto outcome = schedule::Emit(problem, chain.schedule, false, parameters, names);
  ASSERT_TRUE(std::holds_alternative<schedule::Code>(outcome));
  const std::string& launch = std::get<schedule::Code>(outcome).launch;
  EXPECT_NE(launch.find("if (N > 0) {"), std::string::npos) << launch;
  EXPECT_NE(launch.find("if (P > 0) {"), std::string::npos) << launch;
  EXPECT_EQ(launch.find("M > 0"), std::string::npos) << "without rows the original fails as well\n" << launch;
}

// A product that is rounded before exp() is off by more than the judge allows where the original kept all of it.
TEST(Cuts, IntermediatesAreOnlyNarrowWhereNoMemoryIsWide) {
  struct Row {
    const char* name;
    core::DType output;
    std::optional<core::DType> scratch;
    const char* storage;
  };
  const Row rows[] = {
      {"the output alone", core::DType::kF32, std::nullopt, "y"},
      {"a narrow output alone", core::DType::kBF16, std::nullopt, "y"},
      {"wide scratch behind a narrow output", core::DType::kBF16, core::DType::kF32, "s"},
      {"narrow scratch behind a wide output", core::DType::kF32, core::DType::kF16, "y"},
      {"narrow scratch behind a narrow output", core::DType::kF16, core::DType::kF16, "s"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    std::vector<core::TensorArgument> more;
    if (row.scratch) more.push_back(Output("s", {"M", "N"}, *row.scratch));
    const Chain chain{
        row.name, LinearSoftmax(row.output, more), {{"M", 5}, {"N", 37}, {"K", 19}}, schedule::TilesSchedule(), 2,
        {"s"}};
    schedule::TakenNames names;
    const schedule::Problem problem = ChainProblem(chain, names);
    const auto places = schedule::PlacesToCut(chain.form);
    const auto place = std::find_if(places.begin(), places.end(), [](const schedule::PlaceToCut& cut) {
      return cut.computation.stages[cut.stage].name == "t0";
    });
    ASSERT_NE(place, places.end());
    const auto phases = schedule::CutAt(problem, *place);
    ASSERT_TRUE(phases);
    EXPECT_NE(phases->first.FindStage(row.storage), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, Phases, ::testing::ValuesIn(Chains()),
                         [](const auto& chain) { return std::string(chain.param.name); });

}  // namespace
}  // namespace warpwright
