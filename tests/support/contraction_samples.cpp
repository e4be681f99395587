#include "tests/support/contraction_samples.h"

#include <algorithm>
#include <stdexcept>

#include "core/computation_walk.h"
#include "tests/support/computation_builder.h"

namespace warpwright::testing {
namespace {

using core::DType;
using core::ReduceOp;

core::Computation FormOf(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages,
                         std::vector<std::string> scalars = {}) {
  core::Computation computation{.tensors = std::move(tensors), .scalars = std::move(scalars)};
  for (const auto& builder : stages) computation.stages.push_back(builder.stage);
  computation.sizes = core::SizeNames(computation);
  return computation;
}

// out = t0, element by element.
StageBuilder Copied(const std::string& name, const std::vector<std::string>& extents, DType dtype = DType::kF32) {
  StageBuilder out(name, extents);
  out.Output(dtype);
  std::vector<core::Coordinate> at;
  for (core::VariableId v = 0; v < extents.size(); ++v) at.emplace_back(V(v));
  out.ReadStage("t0", at);
  return out;
}

// C[i,j] = sum_k A[..] * B[..] in one of four layouts.
core::Computation Product(bool left_transposed, bool right_transposed, DType dtype = DType::kF32) {
  StageBuilder t0("t0", {"M", "N"});
  const auto a = left_transposed ? t0.Read("A", {V(2), V(0)}) : t0.Read("A", {V(0), V(2)});
  const auto b = right_transposed ? t0.Read("B", {V(1), V(2)}) : t0.Read("B", {V(2), V(1)});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({a, b}));
  using Shape = std::vector<std::string>;
  return FormOf(
      {Input("A", left_transposed ? Shape{"K", "M"} : Shape{"M", "K"}, dtype),
       Input("B", right_transposed ? Shape{"N", "K"} : Shape{"K", "N"}, dtype), Output("C", {"M", "N"}, dtype)},
      {t0, Copied("C", {"M", "N"}, dtype)});
}

// Dimensions that have the names of the loop counters that kernels are made of.
core::Computation ProductOfCounters(DType dtype) {
  StageBuilder t0("t0", {"J", "L"});
  t0.Reduce(ReduceOp::kSum, {{2, "I"}}, t0.Product({t0.Read("A", {V(0), V(2)}), t0.Read("B", {V(1), V(2)})}));
  return FormOf({Input("A", {"J", "I"}, dtype), Input("B", {"L", "I"}, dtype), Output("C", {"J", "L"}, dtype)},
                {t0, Copied("C", {"J", "L"}, dtype)});
}

// C = max(alpha * A B + beta * C + bias, 0)
core::Computation ProductWithEpilogue() {
  StageBuilder t0("t0", {"M", "N"}), out("C", {"M", "N"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("A", {V(0), V(2)}), t0.Read("B", {V(2), V(1)})}));
  out.Output();
  const auto scaled = out.Product({out.Scalar("alpha"), out.ReadStage("t0", {V(0), V(1)})});
  const auto kept = out.Product({out.Scalar("beta"), out.Read("C", {V(0), V(1)})});
  out.Max({out.Sum({scaled, kept, out.Read("bias", {V(1)})}), out.Number(0)});
  auto result = Output("C", {"M", "N"});
  result.read = true;
  return FormOf({Input("A", {"M", "K"}), Input("B", {"K", "N"}), Input("bias", {"N"}), result}, {t0, out},
                {"alpha", "beta"});
}

// C = R + h * tanh(h) with h = A B + bias: what is computed of a sum several times has a name. Its arguments have names
// that kernels give to locals.
core::Computation ProductWithNamedSum(DType dtype) {
  StageBuilder t0("t0", {"steps", "first"}), out("C", {"steps", "first"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("stage", {V(0), V(2)}), t0.Read("sums", {V(1), V(2)})}));
  out.Output(dtype);
  const auto sum = out.Sum({out.ReadStage("t0", {V(0), V(1)}), out.Read("sum", {V(1)})});
  const auto bounded = out.Apply(core::Function::kTanh, {sum});
  out.Sum({out.Read("i", {V(0), V(1)}), out.Product({sum, bounded, out.Scalar("lane")})});
  return FormOf(
      {Input("stage", {"steps", "K"}, dtype), Input("sums", {"first", "K"}, dtype), Input("sum", {"first"}, dtype),
       Input("i", {"steps", "first"}, dtype), Output("C", {"steps", "first"}, dtype)},
      {t0, out}, {"lane"});
}

// One factor is computed from what is read: out = x * (w * scale of its row, rounded to f16)
core::Computation ScaledWeights() {
  StageBuilder t0("t0", {"M", "N"});
  const auto w = t0.Product({t0.Read("w", {V(1), V(2)}), t0.Read("scale", {V(1)})});
  const auto relu = t0.Max({t0.Read("x", {V(0), V(2)}), t0.Number(0)});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({relu, t0.Convert(DType::kF16, w)}));
  return FormOf({Input("x", {"M", "K"}), Input("w", {"N", "K"}), Input("scale", {"N"}), Output("out", {"M", "N"})},
                {t0, Copied("out", {"M", "N"})});
}

core::Computation Batched() {
  StageBuilder t0("t0", {"B", "M", "N"});
  const auto a = t0.Read("A", {V(0), V(1), V(3)}), b = t0.Read("B_", {V(0), V(3), V(2)});
  t0.Reduce(ReduceOp::kSum, {{3, "K"}}, t0.Product({a, b}));
  return FormOf({Input("A", {"B", "M", "K"}), Input("B_", {"B", "K", "N"}), Output("C", {"B", "M", "N"})},
                {t0, Copied("C", {"B", "M", "N"})});
}

// C[i,j] = sum_k A[i,k] * A[j,k] for j <= i
core::Computation LowerSelfProduct() {
  StageBuilder t0("t0", {"N", "N"}), out = Copied("C", {"N", "N"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("A", {V(0), V(2)}), t0.Read("A", {V(1), V(2)})}));
  out.stage.domain.push_back(Within(V(0) - V(1), "0", ""));
  return FormOf({Input("A", {"N", "K"}), Output("C", {"N", "N"})}, {t0, out});
}

// C[i,j] = sum_{k <= i} L[i,k] * B[k,j]
core::Computation Triangular() {
  StageBuilder t0("t0", {"M", "N"});
  t0.Reduce(ReduceOp::kSum, {{2, "M"}}, t0.Product({t0.Read("L", {V(0), V(2)}), t0.Read("B", {V(2), V(1)})}),
            {Within(V(0) - V(2), "0", "")});
  return FormOf({Input("L", {"M", "M"}), Input("B", {"M", "N"}), Output("C", {"M", "N"})},
                {t0, Copied("C", {"M", "N"})});
}

const std::string kOutHeight = "(H+2*P-R)/S+1", kOutWidth = "(W+2*P-R)/S+1";

core::Computation Convolution2d(DType dtype = DType::kF32) {
  StageBuilder t0("t0", {"B", "O", kOutHeight, kOutWidth}), out("out", {"B", "O", kOutHeight, kOutWidth});
  const auto y = V(2) * "S" + V(5) - At("P"), x = V(3) * "S" + V(6) - At("P");
  const auto product = t0.Product({t0.Read("input", {V(0), V(4), y, x}), t0.Read("weight", {V(1), V(4), V(5), V(6)})});
  t0.Reduce(ReduceOp::kSum, {{4, "C"}, {5, "R"}, {6, "R"}}, product, {Within(y, "0", "H"), Within(x, "0", "W")});
  out.Output(dtype);
  out.Sum({out.ReadStage("t0", {V(0), V(1), V(2), V(3)}), out.Read("bias", {V(1)})});
  return FormOf({Input("input", {"B", "C", "H", "W"}, dtype), Input("weight", {"O", "C", "R", "R"}, dtype),
                 Input("bias", {"O"}, dtype), Output("out", {"B", "O", kOutHeight, kOutWidth}, dtype)},
                {t0, out});
}

// Channels last, as in TensorFlow: out[b,y,x,o] = sum input[b,y+r,x+s,c] * weight[r,s,c,o]
core::Computation ConvolutionChannelsLast() {
  StageBuilder t0("t0", {"B", "H", "W", "O"});
  const auto y = V(1) + V(4) - At("1"), x = V(2) + V(5) - At("1");
  const auto product = t0.Product({t0.Read("input", {V(0), y, x, V(6)}), t0.Read("weight", {V(4), V(5), V(6), V(3)})});
  t0.Reduce(ReduceOp::kSum, {{4, "3"}, {5, "3"}, {6, "C"}}, product, {Within(y, "0", "H"), Within(x, "0", "W")});
  return FormOf({Input("input", {"B", "H", "W", "C"}), Input("weight", {"3", "3", "C", "O"}),
                 Output("out", {"B", "H", "W", "O"})},
                {t0, Copied("out", {"B", "H", "W", "O"})});
}

// Group o / (O / G) of the output's channels reads its own C of the input's.
core::Computation GroupedConvolution() {
  StageBuilder t0("t0", {"B", "G*Q", "H-2", "W-2"});
  const core::Affine channel = Quotient(1, "Q") * "C" + V(4);
  const auto product = t0.Product(
      {t0.Read("input", {V(0), channel, V(2) + V(5), V(3) + V(6)}), t0.Read("weight", {V(1), V(4), V(5), V(6)})});
  t0.Reduce(ReduceOp::kSum, {{4, "C"}, {5, "3"}, {6, "3"}}, product);
  return FormOf({Input("input", {"B", "G*C", "H", "W"}), Input("weight", {"G*Q", "C", "3", "3"}),
                 Output("out", {"B", "G*Q", "H-2", "W-2"})},
                {t0, Copied("out", {"B", "G*Q", "H-2", "W-2"})});
}

core::Computation TransposedConvolution2d() {
  const std::string height = "(H-1)*S+3-2*P", width = "(W-1)*S+3-2*P";
  StageBuilder t0("t0", {"B", "O", height, width});
  const auto y = (V(2) + At("P") - V(5)) / "S", x = (V(3) + At("P") - V(6)) / "S";
  const auto product = t0.Product({t0.Read("input", {V(0), V(4), y, x}), t0.Read("weight", {V(4), V(1), V(5), V(6)})});
  t0.Reduce(ReduceOp::kSum, {{4, "C"}, {5, "3"}, {6, "3"}}, product, {Within(y, "0", "H"), Within(x, "0", "W")});
  return FormOf({Input("input", {"B", "C", "H", "W"}), Input("weight", {"C", "O", "3", "3"}),
                 Output("out", {"B", "O", height, width})},
                {t0, Copied("out", {"B", "O", height, width})});
}

// Two taps of four in each direction, those of the result's phase.
core::Computation TransposedConvolutionByPhases(DType dtype) {
  StageBuilder t0("t0", {"B", "O", "2*H", "2*W"});
  const auto y = Quotient(2, "2") + Remainder(2, "2") + V(5) - At("1");
  const auto x = Quotient(3, "2") + Remainder(3, "2") + V(6) - At("1");
  const auto tap = [](core::VariableId result, core::VariableId term) {
    return At("3") - Remainder(result, "2") - V(term) * "2";
  };
  const auto product =
      t0.Product({t0.Read("input", {V(0), V(4), y, x}), t0.Read("weight", {V(4), V(1), tap(2, 5), tap(3, 6)})});
  t0.Reduce(ReduceOp::kSum, {{4, "C"}, {5, "2"}, {6, "2"}}, product, {Within(y, "0", "H"), Within(x, "0", "W")});
  return FormOf({Input("input", {"B", "C", "H", "W"}, dtype), Input("weight", {"C", "O", "4", "4"}, dtype),
                 Output("out", {"B", "O", "2*H", "2*W"}, dtype)},
                {t0, Copied("out", {"B", "O", "2*H", "2*W"}, dtype)});
}

core::Computation CausalConvolution1d() {
  StageBuilder t0("t0", {"B", "O", "T"});
  const auto t = V(2) - V(4) * "D";
  const auto product = t0.Product({t0.Read("x", {V(0), V(3), t}), t0.Read("w", {V(1), V(3), V(4)})});
  t0.Reduce(ReduceOp::kSum, {{3, "C"}, {4, "R"}}, product, {Within(t, "0", "")});
  return FormOf({Input("x", {"B", "C", "T"}), Input("w", {"O", "C", "R"}), Output("y", {"B", "O", "T"})},
                {t0, Copied("y", {"B", "O", "T"})});
}

core::Computation Convolution3d() {
  const std::vector<std::string> extents = {"B", "O", "D-2", "H-2", "W-2"};
  StageBuilder t0("t0", extents);
  const auto product = t0.Product({t0.Read("input", {V(0), V(5), V(2) + V(6), V(3) + V(7), V(4) + V(8)}),
                                   t0.Read("weight", {V(1), V(5), V(6), V(7), V(8)})});
  t0.Reduce(ReduceOp::kSum, {{5, "C"}, {6, "3"}, {7, "3"}, {8, "3"}}, product);
  return FormOf(
      {Input("input", {"B", "C", "D", "H", "W"}), Input("weight", {"O", "C", "3", "3", "3"}), Output("out", extents)},
      {t0, Copied("out", extents)});
}

// What no tiles help: each element of a factor is used once.
core::Computation MatrixVector() {
  StageBuilder t0("t0", {"M"});
  t0.Reduce(ReduceOp::kSum, {{1, "K"}}, t0.Product({t0.Read("A", {V(0), V(1)}), t0.Read("x", {V(1)})}));
  return FormOf({Input("A", {"M", "K"}), Input("x", {"K"}), Output("y", {"M"})}, {t0, Copied("y", {"M"})});
}

core::Computation ThreeFactors() {
  StageBuilder t0("t0", {"M", "N", "L"});
  const auto product = t0.Product({t0.Read("A", {V(0), V(3)}), t0.Read("B", {V(1), V(3)}), t0.Read("C", {V(2), V(3)})});
  t0.Reduce(ReduceOp::kSum, {{3, "K"}}, product);
  return FormOf(
      {Input("A", {"M", "K"}), Input("B", {"N", "K"}), Input("C", {"L", "K"}), Output("out", {"M", "N", "L"})},
      {t0, Copied("out", {"M", "N", "L"})});
}

// C[i,j] = sum_k (w[k] * A[i,k]) * B[j,k] * s[i], left out where mask is 0: weights of the terms, scales of the
// results.
core::Computation Weighted() {
  StageBuilder t0("t0", {"M", "N"});
  const auto product =
      t0.Product({t0.Read("w", {V(2)}), t0.Read("A", {V(0), V(2)}), t0.Read("B", {V(1), V(2)}), t0.Read("s", {V(0)})});
  const auto zero = t0.Number(0);
  const auto kept = t0.Compare(core::Comparison::kNotEqual, {t0.Read("mask", {V(1), V(2)}), zero});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Select({.condition = kept, .then = product, .otherwise = zero}));
  return FormOf({Input("A", {"M", "K"}), Input("B", {"N", "K"}), Input("w", {"K"}), Input("s", {"M"}),
                 Input("mask", {"N", "K"}), Output("C", {"M", "N"})},
                {t0, Copied("C", {"M", "N"})});
}

}  // namespace

std::vector<ContractionSample> ContractionSamples() {
  const std::map<std::string, int64_t> product = {{"M", 141}, {"N", 70}, {"K", 37}};
  const std::map<std::string, int64_t> aligned = {{"M", 128}, {"N", 192}, {"K", 64}};
  const std::map<std::string, int64_t> image = {{"B", 2}, {"C", 5}, {"H", 11}, {"W", 9},
                                                {"O", 7}, {"R", 3}, {"S", 2},  {"P", 1}};
  return {
      {"product", Product(false, false), product},
      {"product of aligned rows", Product(false, false), aligned},
      {"product, left transposed", Product(true, false), product},
      {"product, right transposed", Product(false, true), product},
      {"product, both transposed", Product(true, true), aligned},
      {"product in f16", Product(false, false, DType::kF16), product},
      {"product in bf16, right transposed", Product(false, true, DType::kBF16), aligned},
      {"product of counters in f16", ProductOfCounters(DType::kF16), {{"I", 83}, {"J", 71}, {"L", 69}}},
      {"product of counters", ProductOfCounters(DType::kF32), {{"I", 83}, {"J", 71}, {"L", 69}}},
      {"product in f64", Product(false, false, DType::kF64), product},
      {"product with epilogue", ProductWithEpilogue(), product},
      {"product with a named sum", ProductWithNamedSum(DType::kF32), {{"steps", 141}, {"first", 72}, {"K", 37}}},
      {"product with a named sum in f16", ProductWithNamedSum(DType::kF16), {{"steps", 33}, {"first", 72}, {"K", 40}}},
      {"scaled weights", ScaledWeights(), product},
      {"batched", Batched(), {{"B", 3}, {"M", 33}, {"N", 40}, {"K", 20}}},
      {"lower self product", LowerSelfProduct(), {{"N", 75}, {"K", 33}}},
      {"triangular", Triangular(), {{"M", 67}, {"N", 35}}},
      {"convolution 2d", Convolution2d(), image},
      {"convolution 2d in f16", Convolution2d(DType::kF16), image},
      {"convolution, channels last", ConvolutionChannelsLast(), image},
      {"grouped convolution", GroupedConvolution(), {{"B", 2}, {"G", 3}, {"Q", 4}, {"C", 2}, {"H", 8}, {"W", 9}}},
      {"transposed convolution 2d", TransposedConvolution2d(), image},
      {"phases of a transposed convolution", TransposedConvolutionByPhases(DType::kF32), image},
      {"phases of a transposed convolution in f16", TransposedConvolutionByPhases(DType::kF16), image},
      {"causal convolution 1d", CausalConvolution1d(), {{"B", 2}, {"C", 5}, {"O", 6}, {"T", 41}, {"R", 3}, {"D", 2}}},
      {"convolution 3d", Convolution3d(), {{"B", 2}, {"C", 3}, {"O", 4}, {"D", 5}, {"H", 6}, {"W", 7}}},
      {"weighted", Weighted(), product},
      {"matrix and vector", MatrixVector(), product},
      {"three factors", ThreeFactors(), {{"M", 5}, {"N", 6}, {"L", 7}, {"K", 8}}},
  };
}

ContractionSample ContractionSampleOf(const std::string& name) {
  for (auto& sample : ContractionSamples())
    if (sample.name == name) return sample;
  throw std::out_of_range(name);
}

}  // namespace warpwright::testing
