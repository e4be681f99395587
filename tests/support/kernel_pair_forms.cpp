#include "tests/support/kernel_pair_forms.h"

#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/judge/specs.h"

namespace warpwright::testing {

using core::DType;
using core::Function;
using core::ReduceOp;
using core::Role;

namespace {

core::Computation FormOf(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages) {
  core::Computation form{.tensors = std::move(tensors)};
  for (const StageBuilder& stage : stages) form.stages.push_back(stage.stage);
  return Finished(std::move(form));
}
}  // namespace

core::KernelSpec MatmulSpec(DType dtype) {
  core::KernelSpec spec = SoftmaxSpec(20, 60);
  spec.name = "matmul";
  spec.args[0].kind = ::warpwright::Buffer(dtype, {"N", "M"}, Role::kOut);
  spec.args[1].kind = ::warpwright::Buffer(dtype, {"N", "C"}, Role::kIn);
  spec.args.insert(spec.args.begin() + 2, Arg("w", ::warpwright::Buffer(dtype, {"C", "M"}, Role::kIn)));
  spec.args.push_back(Arg("M", core::ScalarArgument{DType::kI32, {}}));
  spec.cases[0].scalars["M"] = int64_t{45};
  return spec;
}
core::KernelSpec AttentionSpec() {
  core::KernelSpec spec;
  spec.name = "attention";
  spec.file = "kernels/attention.cu";
  spec.entry = "launch";
  for (const char* name : {"q", "k", "v"})
    spec.args.push_back(Arg(name, ::warpwright::Buffer(DType::kF32, {"N", "D"}, Role::kIn)));
  spec.args.push_back(Arg("out", ::warpwright::Buffer(DType::kF32, {"N", "D"}, Role::kOut)));
  spec.args.push_back(Arg("N", core::ScalarArgument{DType::kI32, {}}));
  spec.args.push_back(Arg("D", core::ScalarArgument{DType::kI32, {}}));
  spec.cases = {MakeCase("small", {{"N", int64_t{48}}, {"D", int64_t{16}}})};
  return spec;
}
core::KernelSpec BatchNormSpec() {
  core::KernelSpec spec = SoftmaxSpec(60, 24);
  spec.name = "batch_norm";
  for (const char* name : {"mean", "var", "gamma", "beta"}) {
    core::BufferArgument buffer = ::warpwright::Buffer(DType::kF32, {"C"}, Role::kIn);
    if (std::string(name) == "var") buffer.init = {.kind = core::Init::Kind::kLognormal};
    spec.args.insert(spec.args.end() - 2, Arg(name, buffer));
  }
  return spec;
}

core::Computation SumForm() {
  StageBuilder out("out", {"N"});
  out.Output().Reduce(ReduceOp::kSum, {{1, "C"}}, out.Read("in", {V(0), V(1)}));
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N"})}, {out});
}
core::Computation SoftmaxForm() {
  core::Computation form = Softmax();
  form.tensors[1].name = "in";
  for (core::Stage& stage : form.stages)
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && !read->stage) read->tensor = "in";
  return form;
}
core::Computation NormForm(bool centred, double epsilon) {
  StageBuilder mean("t0", {"N"}), scale("t1", {"N"}), out("out", {"N", "C"});
  const auto sum = mean.Reduce(ReduceOp::kSum, {{1, "C"}}, mean.Read("in", {V(0), V(1)}));
  mean.Divide({sum, mean.OfSize("C")});
  const auto value = [&](StageBuilder& stage) {
    const auto x = stage.Read("in", {V(0), V(1)});
    return centred ? stage.Subtract({x, stage.ReadStage("t0", {V(0)})}) : x;
  };
  const auto difference = value(scale);
  const auto squares = scale.Reduce(ReduceOp::kSum, {{1, "C"}}, scale.Product({difference, difference}));
  scale.Apply(Function::kRsqrt, {scale.Sum({scale.Divide({squares, scale.OfSize("C")}), scale.Number(epsilon)})});
  const auto factor = value(out.Output());
  out.Product({factor, out.ReadStage("t1", {V(0)})});
  std::vector<StageBuilder> stages = {mean, scale, out};
  if (!centred) stages.erase(stages.begin());
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N", "C"})}, stages);
}
core::Computation GeluForm() {
  StageBuilder out("out", {"N", "C"});
  const auto x = out.Output().Read("in", {V(0), V(1)});
  const auto erf = out.Apply(Function::kErf, {out.Product({x, out.Number(0.7071068)})});
  out.Product({out.Number(0.5), x, out.Sum({out.Number(1), erf})});
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N", "C"})}, {out});
}
core::Computation MatmulForm(DType dtype) {
  StageBuilder out("out", {"N", "M"});
  out.Output(dtype).Reduce(ReduceOp::kSum, {{2, "C"}},
                           out.Product({out.Read("in", {V(0), V(2)}), out.Read("w", {V(2), V(1)})}));
  return FormOf({Input("in", {"N", "C"}, dtype), Input("w", {"C", "M"}, dtype), Output("out", {"N", "M"}, dtype)},
                {out});
}
core::Computation AttentionForm() {
  core::Computation form = Attention();
  for (core::Stage& stage : form.stages)
    for (core::Node& node : stage.nodes)
      if (std::holds_alternative<core::ScalarRead>(node)) node = core::Constant{0.25};
  form.scalars.clear();
  return form;
}
core::Computation BatchNormForm() {
  StageBuilder out("out", {"N", "C"});
  const auto centred = out.Output().Subtract({out.Read("in", {V(0), V(1)}), out.Read("mean", {V(1)})});
  const auto scale = out.Apply(Function::kRsqrt, {out.Sum({out.Read("var", {V(1)}), out.Number(1e-5)})});
  out.Sum({out.Product({centred, scale, out.Read("gamma", {V(1)})}), out.Read("beta", {V(1)})});
  return FormOf({Input("in", {"N", "C"}), Input("mean", {"C"}), Input("var", {"C"}), Input("gamma", {"C"}),
                 Input("beta", {"C"}), Output("out", {"N", "C"})},
                {out});
}

}  // namespace warpwright::testing
