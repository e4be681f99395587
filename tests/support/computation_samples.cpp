#include "tests/support/computation_samples.h"

namespace warpwright::testing {

using core::Comparison;
using core::DType;
using core::Function;
using core::ReduceOp;

core::Computation Finished(core::Computation computation) {
  computation.sizes = core::SizeNames(computation);
  return computation;
}

namespace {

core::Computation Of(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages,
                     std::vector<std::string> scalars = {}) {
  core::Computation computation{.tensors = std::move(tensors), .scalars = std::move(scalars)};
  for (const auto& builder : stages) computation.stages.push_back(builder.stage);
  return Finished(std::move(computation));
}

}  // namespace

core::Computation Gelu() {
  StageBuilder out("out", {"N"});
  out.Output();
  const auto x = out.Read("x", {V(0)});
  const auto erf = out.Apply(Function::kErf, {out.Product({x, out.Number(0.70710678)})});
  out.Product({out.Number(0.5), x, out.Sum({out.Number(1), erf})});
  return Of({Output("out", {"N"}), Input("x", {"N"})}, {out});
}

core::Computation MatmulWithBias() {
  StageBuilder t0("t0", {"M", "N"}), out("out", {"M", "N"});
  t0.Reduce(ReduceOp::kSum, {{2, "K"}}, t0.Product({t0.Read("a", {V(0), V(2)}), t0.Read("b", {V(2), V(1)})}));
  out.Output();
  out.Sum({out.ReadStage("t0", {V(0), V(1)}), out.Read("bias", {V(1)})});
  return Of({Input("a", {"M", "K"}), Input("b", {"K", "N"}), Input("bias", {"N"}), Output("out", {"M", "N"})},
            {t0, out});
}

core::Computation Softmax() {
  StageBuilder t0("t0", {"N"}), t1("t1", {"N"}), out("out", {"N", "C"});
  t0.Reduce(ReduceOp::kMax, {{1, "C"}}, t0.Read("inp", {V(0), V(1)}));
  const auto shifted = t1.Subtract({t1.Read("inp", {V(0), V(1)}), t1.ReadStage("t0", {V(0)})});
  t1.Reduce(ReduceOp::kSum, {{1, "C"}}, t1.Apply(Function::kExp, {shifted}));
  out.Output();
  const auto above = out.Subtract({out.Read("inp", {V(0), V(1)}), out.ReadStage("t0", {V(0)})});
  out.Divide({out.Apply(Function::kExp, {above}), out.ReadStage("t1", {V(0)})});
  return Of({Output("out", {"N", "C"}), Input("inp", {"N", "C"})}, {t0, t1, out});
}

core::Computation LayerNorm() {
  StageBuilder mean("t0", {"N"}), scale("t1", {"N"}), out("out", {"N", "C"});
  const auto sum = mean.Reduce(ReduceOp::kSum, {{1, "C"}}, mean.Read("x", {V(0), V(1)}));
  mean.Divide({sum, mean.OfSize("C")});
  const auto difference = scale.Subtract({scale.Read("x", {V(0), V(1)}), scale.ReadStage("t0", {V(0)})});
  const auto squares = scale.Reduce(ReduceOp::kSum, {{1, "C"}}, scale.Product({difference, difference}));
  const auto variance = scale.Divide({squares, scale.OfSize("C")});
  scale.Apply(Function::kRsqrt, {scale.Sum({variance, scale.Scalar("eps")})});
  out.Output();
  const auto centred = out.Subtract({out.Read("x", {V(0), V(1)}), out.ReadStage("t0", {V(0)})});
  out.Sum({out.Product({centred, out.ReadStage("t1", {V(0)}), out.Read("gamma", {V(1)})}), out.Read("beta", {V(1)})});
  return Of({Output("out", {"N", "C"}), Input("x", {"N", "C"}), Input("gamma", {"C"}), Input("beta", {"C"})},
            {mean, scale, out}, {"eps"});
}

core::Computation Convolution() {
  StageBuilder out("out", {"B", "O", "(H-3)/2+1", "(W-3)/2+1"});
  out.Output();
  const core::Affine y = V(2) * "2" + V(5) * "2" - At("1"), x = V(3) * "2" + V(6) * "2" - At("1");
  const auto product = out.Product({out.Read("inp", {V(0), V(4), y, x}), out.Read("weight", {V(1), V(4), V(5), V(6)})});
  out.Reduce(ReduceOp::kSum, {{4, "I"}, {5, "3"}, {6, "3"}}, product, {Within(y, "0", "H"), Within(x, "0", "W")});
  return Of({Input("inp", {"B", "I", "H", "W"}), Input("weight", {"O", "I", "3", "3"}),
             Output("out", {"B", "O", "(H-3)/2+1", "(W-3)/2+1"})},
            {out});
}

core::Computation MaxPool() {
  StageBuilder out("out", {"B", "H/2", "W/2"});
  out.Output();
  const core::Affine y = V(1) * "2" + V(3) - At("1"), x = V(2) * "2" + V(4) - At("1");
  out.Reduce(ReduceOp::kMax, {{3, "3"}, {4, "3"}}, out.Read("inp", {V(0), y, x}),
             {Within(y, "0", "H"), Within(x, "0", "W")});
  return Of({Input("inp", {"B", "H", "W"}), Output("out", {"B", "H/2", "W/2"})}, {out});
}

core::Computation CausalSoftmax() {
  StageBuilder t0("t0", {"N"}), t1("t1", {"N"}), out("out", {"N", "N"}), zero("out", {"N", "N"});
  const core::Guard triangle = Within(V(0) - V(1), "0", "");
  t0.Reduce(ReduceOp::kMax, {{1, "N"}}, t0.Read("s", {V(0), V(1)}), {triangle});
  const auto shifted = t1.Subtract({t1.Read("s", {V(0), V(1)}), t1.ReadStage("t0", {V(0)})});
  t1.Reduce(ReduceOp::kSum, {{1, "N"}}, t1.Apply(Function::kExp, {shifted}), {triangle});
  out.Output().stage.domain = {triangle};
  const auto above = out.Subtract({out.Read("s", {V(0), V(1)}), out.ReadStage("t0", {V(0)})});
  out.Divide({out.Apply(Function::kExp, {above}), out.ReadStage("t1", {V(0)})});
  zero.Output().stage.domain = {Within(V(1) - V(0), "1", "")};
  zero.Number(0);
  return Of({Input("s", {"N", "N"}), Output("out", {"N", "N"})}, {t0, t1, out, zero});
}

core::Computation CumulativeSum() {
  StageBuilder out("out", {"N", "C"});
  out.Output();
  out.Reduce(ReduceOp::kSum, {{2, "C"}}, out.Read("x", {V(0), V(2)}), {Within(V(1) - V(2), "0", "")});
  return Of({Input("x", {"N", "C"}), Output("out", {"N", "C"})}, {out});
}

core::Computation Embedding() {
  StageBuilder out("out", {"T", "D"});
  out.Output();
  const auto token = out.Read("idx", {V(0)});
  out.Read("table", {token, V(1)});
  return Of({Output("out", {"T", "D"}), Input("table", {"V", "D"}), Input("idx", {"T"}, DType::kI32)}, {out});
}

core::Computation ArgMax() {
  StageBuilder out("out", {"N"});
  out.Output(DType::kI32);
  out.Reduce(ReduceOp::kArgMaxFirst, {{1, "C"}}, out.Read("x", {V(0), V(1)}), {}, V(1));
  return Of({Input("x", {"N", "C"}), Output("out", {"N"}, DType::kI32)}, {out});
}

core::Computation Histogram() {
  StageBuilder out("out", {"B"});
  out.Output(DType::kI32);
  const auto same = out.Compare(Comparison::kEqual, {out.Read("idx", {V(1)}), out.Index(V(0))});
  out.Reduce(ReduceOp::kSum, {{1, "N"}}, out.Select({same, out.Number(1), out.Number(0)}));
  return Of({Input("idx", {"N"}, DType::kI32), Output("out", {"B"}, DType::kI32)}, {out});
}

core::Computation Piecewise() {
  StageBuilder first("out", {"N"}), second("out", {"N"});
  first.Output().stage.domain = {Within(V(0), "", "K")};
  first.Read("x", {V(0)});
  second.Output().stage.domain = {Within(V(0), "K", "")};
  second.Product({second.Number(2), second.Read("x", {V(0)})});
  return Of({Input("x", {"N"}), Output("out", {"N"})}, {first, second});
}

core::Computation Transposition() {
  StageBuilder out("out", {"C", "N"});
  out.Output();
  out.Read("x", {V(1), V(0)});
  return Of({Input("x", {"N", "C"}), Output("out", {"C", "N"})}, {out});
}

core::Computation Stencil() {
  StageBuilder out("out", {"H-2", "W-2"});
  out.Output().stage.at = {V(0) + At("1"), V(1) + At("1")};
  const core::Affine y = V(0) + At("1"), x = V(1) + At("1");
  const auto around = out.Sum({out.Read("x", {y - At("1"), x}), out.Read("x", {y + At("1"), x}),
                               out.Read("x", {y, x - At("1")}), out.Read("x", {y, x + At("1")})});
  out.Product({out.Number(0.25), around});
  return Of({Input("x", {"H", "W"}), Output("out", {"H", "W"})}, {out});
}

core::Computation Attention() {
  StageBuilder t0("t0", {"N", "N"}), t1("t1", {"N"}), t2("t2", {"N"}), out("out", {"N", "D"});
  const auto scores =
      t0.Reduce(ReduceOp::kSum, {{2, "D"}}, t0.Product({t0.Read("q", {V(0), V(2)}), t0.Read("k", {V(1), V(2)})}));
  t0.Product({scores, t0.Scalar("scale")});
  t1.Reduce(ReduceOp::kMax, {{1, "N"}}, t1.ReadStage("t0", {V(0), V(1)}));
  const auto shifted = t2.Subtract({t2.ReadStage("t0", {V(0), V(1)}), t2.ReadStage("t1", {V(0)})});
  t2.Reduce(ReduceOp::kSum, {{1, "N"}}, t2.Apply(Function::kExp, {shifted}));
  out.Output();
  const auto above = out.Subtract({out.ReadStage("t0", {V(0), V(2)}), out.ReadStage("t1", {V(0)})});
  const auto weight = out.Divide({out.Apply(Function::kExp, {above}), out.ReadStage("t2", {V(0)})});
  out.Reduce(ReduceOp::kSum, {{2, "N"}}, out.Product({weight, out.Read("v", {V(2), V(1)})}));
  return Of({Input("q", {"N", "D"}), Input("k", {"N", "D"}), Input("v", {"N", "D"}), Output("out", {"N", "D"})},
            {t0, t1, t2, out}, {"scale"});
}

core::Computation TransposedConvolution() {
  StageBuilder out("out", {"2*W+1"});
  out.Output();
  const core::Affine position = (V(0) - V(1)) / "2";
  out.Reduce(ReduceOp::kSum, {{1, "3"}}, out.Product({out.Read("x", {position}), out.Read("w", {V(1)})}),
             {Within(position, "0", "W")});
  return Of({Input("x", {"W"}), Input("w", {"3"}), Output("out", {"2*W+1"})}, {out});
}

core::Computation InPlaceScale() {
  StageBuilder out("x", {"N"});
  out.Output(DType::kF16);
  const auto kept = out.Compare(Comparison::kNotEqual, {out.Read("mask", {V(0)}), out.Number(0)});
  const auto x = out.Read("x", {V(0)});
  const auto scaled = out.Convert(DType::kF16, out.Product({x, out.Scalar("alpha")}));
  out.Select({kept, scaled, out.Number(0)});
  core::TensorArgument x_argument = Input("x", {"N"}, DType::kF16);
  x_argument.written = true;
  return Of({x_argument, Input("mask", {"N"}, DType::kU8)}, {out}, {"alpha"});
}

core::Computation GroupNorm() {
  StageBuilder t0("t0", {"B", "G"}), out("out", {"B", "G*S", "L"});
  const auto x = t0.Read("x", {V(0), V(1) * "S" + V(2), V(3)});
  const auto squares = t0.Reduce(ReduceOp::kSum, {{2, "S"}, {3, "L"}}, t0.Product({x, x}));
  t0.Divide({squares, t0.OfSize("S*L")});
  out.Output();
  const auto scale = out.Apply(Function::kRsqrt, {out.ReadStage("t0", {V(0), Quotient(1, "S")})});
  out.Product({out.Read("x", {V(0), V(1), V(2)}), scale});
  return Of({Input("x", {"B", "G*S", "L"}), Output("out", {"B", "G*S", "L"})}, {t0, out});
}

std::vector<Sample> Samples() {
  return {{"gelu", Gelu(), {{"N", 70}}, {}, {}},
          {"matmul with bias", MatmulWithBias(), {{"M", 5}, {"N", 6}, {"K", 7}}, {}, {}},
          {"softmax", Softmax(), {{"N", 4}, {"C", 9}}, {}, {}},
          {"layer norm", LayerNorm(), {{"N", 4}, {"C", 9}}, {{"eps", 1e-5}}, {}},
          {"convolution", Convolution(), {{"B", 2}, {"O", 3}, {"I", 2}, {"H", 9}, {"W", 7}}, {}, {}},
          {"max pool", MaxPool(), {{"B", 2}, {"H", 8}, {"W", 6}}, {}, {}},
          {"causal softmax", CausalSoftmax(), {{"N", 7}}, {}, {}},
          {"cumulative sum", CumulativeSum(), {{"N", 3}, {"C", 8}}, {}, {}},
          {"embedding", Embedding(), {{"T", 6}, {"D", 5}, {"V", 11}}, {}, {{"idx", 11}}},
          {"argmax", ArgMax(), {{"N", 5}, {"C", 6}}, {}, {}},
          {"histogram", Histogram(), {{"N", 40}, {"B", 7}}, {}, {{"idx", 7}}},
          {"piecewise", Piecewise(), {{"N", 9}, {"K", 4}}, {}, {}},
          {"transposition", Transposition(), {{"N", 4}, {"C", 6}}, {}, {}},
          {"stencil", Stencil(), {{"H", 6}, {"W", 8}}, {}, {}},
          {"attention", Attention(), {{"N", 5}, {"D", 4}}, {{"scale", 0.5}}, {}},
          {"transposed convolution", TransposedConvolution(), {{"W", 6}}, {}, {}},
          {"in-place scale", InPlaceScale(), {{"N", 20}}, {{"alpha", 1.7}}, {{"mask", 2}}},
          {"group norm", GroupNorm(), {{"B", 2}, {"G", 3}, {"S", 2}, {"L", 4}}, {}, {}}};
}

}  // namespace warpwright::testing
