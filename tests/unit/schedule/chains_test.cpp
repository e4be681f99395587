// Entries that no single kernel computes well: in phases, with what lies between them in memory, on the simulator.
#include <gtest/gtest.h>

#include "schedule/emission.h"
#include "schedule/schedules.h"
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

// softmax(linear + bias), where the linear layer's results were in y before.
core::Computation LinearSoftmax() {
  StageBuilder t1("t1", {"M"}), t2("t2", {"M"}), y("y", {"M", "N"});
  t1.Reduce(ReduceOp::kMax, {{1, "N"}}, t1.Sum({t1.ReadStage("t0", {V(0), V(1)}), t1.Read("bias", {V(1)})}));
  const auto shifted = [](StageBuilder& stage) {
    return stage.Apply(Function::kExp, {stage.Sum({stage.ReadStage("t0", {V(0), V(1)}), stage.Read("bias", {V(1)}),
                                                   stage.Minus(stage.ReadStage("t1", {V(0)}))})});
  };
  t2.Reduce(ReduceOp::kSum, {{1, "N"}}, shifted(t2));
  y.Output();
  y.Divide({shifted(y), y.ReadStage("t2", {V(0)})});
  return FormOf(OfLinear({Input("bias", {"N"}), Output("y", {"M", "N"})}), {Linear(), t1, t2, y});
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

struct Chain {
  const char* name;
  core::Computation form;
  testing::SizeNumbers sizes;
  schedule::Schedule schedule;
  size_t kernels;
  std::vector<std::string> scratch = {}, conditions = {};
};

std::vector<Chain> Chains() {
  return {
      {"linear, softmax", LinearSoftmax(), {{"M", 5}, {"N", 37}, {"K", 19}}, schedule::TilesSchedule(), 2},
      {"linear, group means",
       LinearGroupMeans(),
       {{"M", 3}, {"N", 12}, {"K", 7}, {"G", 3}},
       schedule::RowsSchedule(),
       2,
       {"s"}},
      {"mean of norms", MeanOfNorms(), {{"B", 9}, {"D", 70}}, schedule::RowsSchedule(), 2, {}, {"B <= 262144"}},
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

TEST(Phases, ComputeWhatTheFormSays) {
  for (const Chain& row : Chains()) {
    SCOPED_TRACE(row.name);
    schedule::TakenNames names;
    const schedule::Problem problem = ChainProblem(row, names);
    schedule::ParameterValues parameters;
    for (const auto& parameter : row.schedule.parameters) parameters.emplace(parameter.name, parameter.values.front());
    const auto outcome = schedule::Emit(problem, row.schedule, parameters, names);
    const auto* refusal = std::get_if<core::RewriteRefusal>(&outcome);
    ASSERT_EQ(refusal, nullptr) << refusal->reason;
    const auto& code = std::get<schedule::Code>(outcome);
    const auto run = testing::RunOnSimulator(problem, code);
    EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels << code.launch;
    EXPECT_EQ(code.conditions, row.conditions);
    size_t kernels = 0;
    for (size_t at = code.launch.find("<<<"); at != std::string::npos; at = code.launch.find("<<<", at + 1)) ++kernels;
    EXPECT_GE(kernels, row.kernels) << code.launch;
    if (std::string(row.name) == "linear, group means")
      ExpectGolden("schedules/linear_group_means.cu", code.kernels + "\n" + code.launch);
  }
}

}  // namespace
}  // namespace warpwright
