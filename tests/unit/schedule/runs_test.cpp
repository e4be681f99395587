// What schedules write for generated forms, run on the simulator at sizes that leave tails everywhere, against the
// form's value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "schedule/schedules.h"
#include "tests/support/computation_samples.h"
#include "tests/support/contraction_samples.h"
#include "tests/support/golden.h"
#include "tests/support/schedule_kit.h"

namespace warpwright {
namespace {

using core::ReduceOp;
using testing::At;
using testing::Finished;
using testing::Input;
using testing::Output;
using testing::StageBuilder;
using testing::V;
using testing::Within;
using namespace testing;  // NOLINT: operators on positions

core::Computation Of(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages) {
  core::Computation form{.tensors = std::move(tensors)};
  for (const StageBuilder& builder : stages) form.stages.push_back(builder.stage);
  return Finished(std::move(form));
}

// How far a term may be ahead of its result, as people's loops have it.
enum class Prefix { kInclusive, kExclusive, kSuffix, kStrictSuffix };
core::Guard GuardOf(Prefix prefix, core::VariableId result, core::VariableId term) {
  switch (prefix) {
    case Prefix::kInclusive: return Within(V(result) - V(term), "0", "");
    case Prefix::kExclusive: return Within(V(term) - V(result), "", "0");
    case Prefix::kSuffix: return Within(V(term) - V(result), "0", "");
    case Prefix::kStrictSuffix: return Within(V(result) - V(term), "", "0");
  }
  return {};
}

// Along rows: out[n, c] = sum_{r up to c} x[n, r]^2 + x[n, c], in place of x where it is the same tensor.
core::Computation RowScan(Prefix prefix, ReduceOp op, const std::string& to) {
  StageBuilder t0("t0", {"N", "C"}), out(to, {"N", "C"});
  const auto x = t0.Read("x", {V(0), V(2)});
  t0.Reduce(op, {{2, "C"}}, t0.Product({x, x}), {GuardOf(prefix, 1, 2)});
  out.Output();
  out.Sum({out.ReadStage("t0", {V(0), V(1)}), out.Read("x", {V(0), V(1)})});
  core::TensorArgument from = Input("x", {"N", "C"});
  if (to == "x") return from.written = true, Of({from}, {t0, out});
  return Of({from, Output(to, {"N", "C"})}, {t0, out});
}
// Along columns: y[r, c] = sum_{k up to r} x[k, c].
core::Computation ColumnScan(Prefix prefix) {
  StageBuilder out("y", {"R", "C"});
  out.Output();
  out.Reduce(ReduceOp::kSum, {{2, "R"}}, out.Read("x", {V(2), V(1)}), {GuardOf(prefix, 0, 2)});
  return Of({Input("x", {"R", "C"}), Output("y", {"R", "C"})}, {out});
}
core::Computation WholeScan(Prefix prefix, core::DType dtype) {
  StageBuilder out("y", {"N"});
  out.Output(dtype);
  out.Reduce(ReduceOp::kSum, {{1, "N"}}, out.Read("x", {V(1)}), {GuardOf(prefix, 0, 1)});
  return Of({Input("x", {"N"}, dtype), Output("y", {"N"}, dtype)}, {out});
}

// Sums that 32 bits do not hold, of integers that they do.
core::Computation WideScan() {
  core::Computation form = WholeScan(Prefix::kInclusive, core::DType::kI32);
  form.stages.back().dtype = form.tensors.back().dtype = core::DType::kI64;
  return form;
}
// The largest of each group of a row, of which the last may be shorter.
core::Computation RaggedGroups() {
  StageBuilder t0("t0", {"R", "(C+G-1)/G"}), out("s", {"R", "(C+G-1)/G"});
  const core::Affine at = V(1) * "G" + V(2);
  t0.Reduce(ReduceOp::kMax, {{2, "G"}}, t0.Apply(core::Function::kAbs, {t0.Read("x", {V(0), at})}),
            {Within(at, "", "C")});
  out.Output();
  out.ReadStage("t0", {V(0), V(1)});
  return Of({Input("x", {"R", "C"}), Output("s", {"R", "(C+G-1)/G"})}, {t0, out});
}
// What is rounded: the last bit of a quotient may show.
core::Computation Rounded() {
  StageBuilder out("q", {"N"});
  out.Output();
  out.Apply(core::Function::kRint, {out.Product({out.Number(1.0 / 127), out.Read("x", {V(0)})})});
  return Of({Input("x", {"N"}), Output("q", {"N"})}, {out});
}

// Of products, as lifting has them: the first is one term, a part of its own.
core::Computation FirstApart() {
  StageBuilder first("y", {"N", "1"}), rest("y", {"N", "C-1"});
  first.Output().stage.at = {V(0), At("0")};
  first.Read("x", {V(0), At("0")});
  rest.Output().stage.at = {V(0), V(1) + At("1")};
  rest.Reduce(ReduceOp::kProduct, {{2, "C"}}, rest.Read("x", {V(0), V(2)}), {Within(V(2) - V(1), "", "2")});
  return Of({Input("x", {"N", "C"}), Output("y", {"N", "C"})}, {first, rest});
}
// As people write an exclusive scan: 0, then the sums one further on, of all elements but the last.
core::Computation ZeroApart() {
  StageBuilder t0("t0", {"N-1"}), first("y", {"1"}), rest("y", {"N-1"});
  t0.Reduce(ReduceOp::kSum, {{1, "N-1"}}, t0.Read("x", {V(1)}), {Within(V(1) - V(0), "", "1")});
  first.Output().stage.at = {At("0")};
  first.Number(0);
  rest.Output().stage.at = {V(0) + At("1")};
  rest.ReadStage("t0", {V(0)});
  return Of({Input("x", {"N"}), Output("y", {"N"})}, {t0, first, rest});
}
// The trapezoidal rule: s[i] = 0.5 * sum_{r <= i} (x[r] + x[r + 1]), and so of the first.
core::Computation Trapezoids() {
  StageBuilder t0("t0", {"N", "C"}), t1("t1", {"N", "C-1"}), first("s", {"N", "1"}), rest("s", {"N", "C-1"});
  t0.Reduce(ReduceOp::kSum, {{2, "2"}}, t0.Read("x", {V(0), V(1) + V(2)}));
  t1.Reduce(ReduceOp::kSum, {{2, "C"}}, t1.ReadStage("t0", {V(0), V(2)}), {Within(V(2) - V(1), "", "2")});
  first.Output().stage.at = {V(0), At("0")};
  first.Product({first.Number(0.5), first.ReadStage("t0", {V(0), At("0")})});
  rest.Output().stage.at = {V(0), V(1) + At("1")};
  rest.Product({rest.Number(0.5), rest.ReadStage("t1", {V(0), V(1)})});
  return Of({Input("x", {"N", "C+1"}), Output("s", {"N", "C"})}, {t0, t1, first, rest});
}

// bins[b] = the number of keys b; or the sum of weights of key b, added to what is there.
core::Computation Counts() {
  StageBuilder t0("t0", {"B"}), out("bins", {"B"});
  const auto same = t0.Compare(core::Comparison::kEqual, {t0.Read("key", {V(1)}), t0.Index(V(0))});
  t0.Reduce(ReduceOp::kSum, {{1, "N"}}, t0.Select({same, t0.Number(1), t0.Number(0)}));
  out.Output(core::DType::kI32);
  out.ReadStage("t0", {V(0)});
  return Of({Input("key", {"N"}, core::DType::kI32), Output("bins", {"B"}, core::DType::kI32)}, {t0, out});
}
core::Computation Gradient() {
  StageBuilder t0("t0", {"V", "C"}), out("grad", {"V", "C"});
  const auto same = t0.Compare(core::Comparison::kEqual, {t0.Index(V(0)), t0.Read("token", {V(2), V(3)})});
  t0.Reduce(ReduceOp::kSum, {{2, "B"}, {3, "T"}}, t0.Select({same, t0.Read("dout", {V(2), V(3), V(1)}), t0.Number(0)}));
  out.Output();
  out.Sum({out.Read("grad", {V(0), V(1)}), out.ReadStage("t0", {V(0), V(1)})});
  core::TensorArgument grad = Output("grad", {"V", "C"});
  grad.read = true;
  return Of({Input("token", {"B", "T"}, core::DType::kI32), Input("dout", {"B", "T", "C"}), grad}, {t0, out});
}

// Depthwise, padded by one: y[c, i] = sum_{k < 3} x[c, i + k - 1] * w[c, k].
core::Computation Depthwise() {
  StageBuilder t0("t0", {"C", "L"}), out("y", {"C", "L"});
  const core::Affine at = V(1) + V(2) - At("1");
  t0.Reduce(ReduceOp::kSum, {{2, "3"}}, t0.Product({t0.Read("x", {V(0), at}), t0.Read("w", {V(0), V(2)})}),
            {Within(at, "0", "L")});
  out.Output();
  out.ReadStage("t0", {V(0), V(1)});
  return Of({Input("x", {"C", "L"}), Input("w", {"C", "3"}), Output("y", {"C", "L"})}, {t0, out});
}

// Transposed, by steps of two, to 2 H - 1 results: the phases of a result take it apart, and the last has no partner.
core::Computation OddPhases() {
  StageBuilder t0("t0", {"K", "2*H-1"}), out("y", {"K", "2*H-1"});
  const core::Affine at = Quotient(1, "2") + V(3);
  t0.Reduce(
      ReduceOp::kSum, {{2, "C"}, {3, "2"}},
      t0.Product({t0.Read("x", {V(2), at}), t0.Read("w", {V(2), V(0), Remainder(1, "2") - V(3) * "2" + At("1")})}),
      {Within(at, "", "H"), Within(V(3) * "2" - Remainder(1, "2"), "", "2")});
  out.Output();
  out.ReadStage("t0", {V(0), V(1)});
  return Of({Input("x", {"C", "H"}), Input("w", {"C", "K", "3"}), Output("y", {"K", "2*H-1"})}, {t0, out});
}

// Largest of 2 x 2 and where it was, as classifiers have it: one walk for both.
core::Computation PoolWithPositions() {
  const std::vector<std::string> extents = {"B", "C", "H/2", "W/2"};
  const core::Affine y = V(2) * "2" + V(4), x = V(3) * "2" + V(5);
  std::vector<StageBuilder> stages;
  for (const bool position : {false, true}) {
    StageBuilder& window = stages.emplace_back(position ? "t1" : "t0", extents);
    window.Reduce(position ? ReduceOp::kArgMaxFirst : ReduceOp::kMax, {{4, "2"}, {5, "2"}},
                  window.Read("in", {V(0), V(1), y, x}), {},
                  position ? std::optional(V(4) * "2" + V(5)) : std::nullopt);
  }
  for (const bool position : {false, true}) {
    StageBuilder& out = stages.emplace_back(position ? "at" : "out", extents);
    out.Output(position ? core::DType::kI32 : core::DType::kF32);
    out.ReadStage(position ? "t1" : "t0", {V(0), V(1), V(2), V(3)});
  }
  return Of({Input("in", {"B", "C", "H", "W"}), Output("out", extents), Output("at", extents, core::DType::kI32)},
            stages);
}

// y[c, l] = exp(x[c, l] - max_k x[k, l]) / sum_k exp(x[k, l] - max_k x[k, l]).
core::Computation SoftmaxOfColumns() {
  StageBuilder most("t0", {"L"}), total("t1", {"L"}), y("y", {"C", "L"});
  most.Reduce(ReduceOp::kMax, {{1, "C"}}, most.Read("x", {V(1), V(0)}));
  const auto shifted = [](StageBuilder& stage, core::VariableId c, core::VariableId l) {
    return stage.Apply(core::Function::kExp,
                       {stage.Subtract({stage.Read("x", {V(c), V(l)}), stage.ReadStage("t0", {V(l)})})});
  };
  total.Reduce(ReduceOp::kSum, {{1, "C"}}, shifted(total, 1, 0));
  y.Output();
  const auto exponential = shifted(y, 0, 1);
  y.Divide({exponential, y.ReadStage("t1", {V(1)})});
  return Of({Input("x", {"C", "L"}), Output("y", {"C", "L"})}, {most, total, y});
}

struct Row {
  const char* name;
  core::Computation form;
  testing::SizeNumbers sizes;
  schedule::Schedule schedule;
  const char* says = "";  // something that the text has
};

std::vector<Row> Rows() {
  const auto scan = schedule::ScanSchedule();
  const auto scatter = schedule::ScatterSchedule();
  const auto product = testing::ContractionSampleOf("product with epilogue");
  const auto halves = testing::ContractionSampleOf("product in f16");
  return {
      {"rows",
       RowScan(Prefix::kInclusive, ReduceOp::kSum, "out"),
       {{"N", 300}, {"C", 13}},
       scan,
       "__launch_bounds__(32)"},
      {"rows, in place", RowScan(Prefix::kInclusive, ReduceOp::kSum, "x"), {{"N", 3}, {"C", 1100}}, scan},
      {"rows, exclusive", RowScan(Prefix::kExclusive, ReduceOp::kSum, "x"), {{"N", 2}, {"C", 1030}}, scan},
      {"rows, maximum from the end", RowScan(Prefix::kSuffix, ReduceOp::kMax, "out"), {{"N", 5}, {"C", 70}}, scan},
      {"rows, from the end, in packs",
       RowScan(Prefix::kSuffix, ReduceOp::kSum, "out"),
       {{"N", 5}, {"C", 1032}},
       scan,
       "x_pack.at[kWidth - 1 - k]"},
      {"rows, strict suffix, in packs, in place",
       RowScan(Prefix::kStrictSuffix, ReduceOp::kSum, "x"),
       {{"N", 3}, {"C", 4104}},
       scan,
       "x_new.at[kWidth - 1 - k]"},
      {"rows, strict suffix", RowScan(Prefix::kStrictSuffix, ReduceOp::kSum, "out"), {{"N", 5}, {"C", 129}}, scan},
      {"rows in parts", RowScan(Prefix::kInclusive, ReduceOp::kSum, "x"), {{"N", 2}, {"C", 9001}}, scan, "parts"},
      {"rows in parts, backwards", RowScan(Prefix::kStrictSuffix, ReduceOp::kMin, "x"), {{"N", 2}, {"C", 8200}}, scan},
      {"whole", WholeScan(Prefix::kInclusive, core::DType::kF32), {{"N", 12345}}, scan, "_totals"},
      {"whole, exclusive, integers",
       WholeScan(Prefix::kExclusive, core::DType::kI32),
       {{"N", 5000}},
       scan,
       "int before"},
      {"whole, of wide sums", WideScan(), {{"N", 5000}}, scan, "long long before"},
      {"ragged groups", RaggedGroups(), {{"R", 3}, {"C", 40}, {"G", 24}}, schedule::RowsSchedule()},
      {"rounded quotient", Rounded(), {{"N", 100}}, schedule::MapSchedule(), " / 127.0f"},
      {"first apart", FirstApart(), {{"N", 3}, {"C", 130}}, scan, "product *= "},
      {"zero apart", ZeroApart(), {{"N", 5000}}, scan, "_totals"},
      {"trapezoids", Trapezoids(), {{"N", 3}, {"C", 70}}, scan, "load_packed<kWidth>(x"},
      {"columns", ColumnScan(Prefix::kInclusive), {{"R", 9}, {"C", 300}}, scan, "_columns"},
      {"columns, exclusive, backwards", ColumnScan(Prefix::kStrictSuffix), {{"R", 7}, {"C", 33}}, scan},
      {"counts", Counts(), {{"N", 5001}, {"B", 9}}, scatter, "extern __shared__"},
      {"counts of many", Counts(), {{"N", 700}, {"B", 9000}}, scatter, "_by_key<<<"},
      {"gradient of a table", Gradient(), {{"V", 10}, {"C", 33}, {"B", 2}, {"T", 7}}, scatter},
      {"long product", product.form, {{"M", 5}, {"N", 9}, {"K", 2500}}, schedule::TilesSchedule(), "_finish<<<"},
      {"long product of halves",
       halves.form,
       {{"M", 33}, {"N", 8}, {"K", 2080}},
       schedule::TensorTilesSchedule(),
       "_finish<<<"},
      {"pool and positions",
       PoolWithPositions(),
       {{"B", 2}, {"C", 3}, {"H", 21}, {"W", 70}},
       schedule::MapSchedule(),
       "dim3(32, 8)"},
      {"depthwise", Depthwise(), {{"C", 3}, {"L", 50}}, schedule::MapSchedule()},
      {"softmax of columns", SoftmaxOfColumns(), {{"C", 21}, {"L", 70}}, schedule::ColumnsSchedule(), "dim3(32, 16)"},
      {"softmax of many short columns",
       SoftmaxOfColumns(),
       {{"C", 5}, {"L", 66000}},
       schedule::ColumnsSchedule(),
       "dim3(128, 1)"},
      {"odd phases", OddPhases(), {{"K", 5}, {"C", 7}, {"H", 21}}, schedule::TilesSchedule()},
  };
}

class Runs : public ::testing::TestWithParam<Row> {};

TEST_P(Runs, ComputesWhatTheFormSays) {
  const Row& row = GetParam();
  ASSERT_TRUE(core::Validate(row.form)) << core::Validate(row.form).error().Format();
  const schedule::Problem problem = testing::ProblemOf(row.form, row.sizes);
  const schedule::Code code = testing::CodeOf(problem, row.schedule);
  const auto run = testing::RunOnSimulator(problem, code);
  EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels << code.launch;
  EXPECT_NE((code.kernels + code.launch).find(row.says), std::string::npos) << code.kernels << code.launch;
}

std::string NameOf(const ::testing::TestParamInfo<Row>& row) {
  std::string name = row.param.name;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Forms, Runs, ::testing::ValuesIn(Rows()), NameOf);

TEST(Texts, AreAsPeopleWouldWriteThem) {
  const std::pair<const char*, const char*> rows[] = {{"rows, in place", "row_scan.cu"},
                                                      {"whole", "scan.cu"},
                                                      {"columns", "column_scan.cu"},
                                                      {"counts", "histogram.cu"},
                                                      {"gradient of a table", "table_gradient.cu"},
                                                      {"long product", "long_product.cu"}};
  for (const auto& [name, golden] : rows) {
    const std::vector<Row> all = Rows();
    const auto row = std::find_if(all.begin(), all.end(), [&](const Row& r) { return std::string(r.name) == name; });
    ASSERT_NE(row, all.end()) << name;
    const schedule::Code code = testing::CodeOf(testing::ProblemOf(row->form, row->sizes), row->schedule);
    std::string text;
    std::set<std::string> written;
    for (const std::string& helper : code.helpers)
      if (written.insert(helper).second) text += helper + "\n";
    ExpectGolden(std::string("schedules/") + golden, text + code.kernels + "\n" + code.launch);
  }
}

// x / (1 + exp(-x)) * y: the gate before what it multiplies, whose product may be too large for a float.
TEST(Texts, DivideBeforeTheyMultiply) {
  StageBuilder out("out", {"N"});
  const auto x = out.Read("x", {V(0)}), y = out.Read("y", {V(0)});
  const auto below = out.Sum({out.Number(1), out.Apply(core::Function::kExp, {out.Minus(x)})});
  out.Product({y, x, out.Apply(core::Function::kReciprocal, {below})});
  out.Output();
  core::Computation form{.tensors = {Input("x", {"N"}), Input("y", {"N"}), Output("out", {"N"})}};
  form.stages.push_back(out.stage);
  const schedule::Problem problem = testing::ProblemOf(Finished(std::move(form)), {{"N", 100}});
  const schedule::Code code = testing::CodeOf(problem, schedule::MapSchedule());
  EXPECT_NE(code.kernels.find("x_pack.at[k] / (1.0f + expf(-x_pack.at[k])) * y_pack.at[k]"), std::string::npos)
      << code.kernels;
  EXPECT_EQ(testing::RunOnSimulator(problem, code).mismatch, "");
}

// The root of what is divided by a scalar, of whatever signs they are.
TEST(Texts, TakeTheRootOfAQuotient) {
  StageBuilder out("out", {"N"});
  const auto root = out.Apply(core::Function::kSqrt, {out.Read("v", {V(0)})});
  const auto scale = out.Apply(core::Function::kRsqrt, {out.Scalar("correction")});
  out.Product({scale, root});
  out.Output();
  core::Computation form{.tensors = {Input("v", {"N"}), Output("out", {"N"})}};
  form.scalars = {"correction"};
  form.stages.push_back(out.stage);
  const schedule::Problem problem = testing::ProblemOf(Finished(std::move(form)), {{"N", 100}});
  const schedule::Code code = testing::CodeOf(problem, schedule::MapSchedule());
  EXPECT_NE(code.kernels.find("sqrtf(v_pack.at[k] / correction)"), std::string::npos) << code.kernels;
}

// out = (res + x) * w [/ rms], res' = res + x: over rows, columns or elements, in parts or where a condition holds.
core::Computation AddAndScale(bool normalizes, bool columns, bool guarded, bool window, core::DType dtype) {
  const std::vector<std::string> shape =
      columns ? std::vector<std::string>{"C", "N"} : std::vector<std::string>{"N", "C"};
  const core::VariableId row = columns ? 1 : 0;
  StageBuilder t0("t0", {"N"}), out("out", shape), added("res", shape);
  std::vector<core::Coordinate> at(2);
  at[row] = V(0), at[1 - row] = V(1);
  const auto term = t0.Sum({t0.Read("res", at), t0.Read("x", at)});
  t0.Reduce(ReduceOp::kSum, {{1, "C"}}, t0.Product({term, term}));
  std::vector<StageBuilder::Id> factors = {
      out.Sum({out.Read("res", {V(0), V(1)}), out.Read("x", {V(0), V(1)})}),
      window ? out.Sum({out.Read("w", {V(1)}), out.Read("w", {V(1) + At("1")})}) : out.Read("w", {V(1)})};
  if (normalizes) factors.push_back(out.Apply(core::Function::kRsqrt, {out.ReadStage("t0", {V(row)})}));
  out.Output(dtype);
  out.Product(factors);
  added.Output(dtype);
  added.Sum({added.Read("res", {V(0), V(1)}), added.Read("x", {V(0), V(1)})});
  if (guarded)
    for (StageBuilder* stage : {&out, &added}) stage->stage.domain = {Within(V(0) - V(1), "0", "")};
  core::TensorArgument res = Output("res", shape, dtype);
  res.read = true;
  std::vector<StageBuilder> stages = {out, added};
  if (normalizes) stages.insert(stages.begin(), t0);
  return Of({Input("x", shape, dtype), Input("w", {window ? shape[1] + "+1" : shape[1]}, dtype), res,
             Output("out", shape, dtype)},
            stages);
}

// An output may share memory with an input, element by element: nothing is stored before all is read.
TEST(Outputs, MayStandInTheirInputs) {
  const struct {
    const char* name;
    schedule::Schedule schedule;
    bool normalizes, columns, guarded, window;
    core::DType dtype;
    schedule::ParameterValues parameters = {};
  } rows[] = {
      {"rows", schedule::RowsSchedule(), true, false, false, false, core::DType::kF16},
      {"rows of a block", schedule::RowsSchedule(), true, false, false, false, core::DType::kF32, {{"threads", "256"}}},
      {"parts of rows", schedule::RowsSchedule(), true, false, true, false, core::DType::kF32},
      {"columns", schedule::ColumnsSchedule(), true, true, false, false, core::DType::kF32},
      {"elements", schedule::MapSchedule(), false, false, false, false, core::DType::kF16},
      {"parts of elements", schedule::MapSchedule(), false, false, true, false, core::DType::kF32},
      {"windows", schedule::WindowSchedule(), false, false, false, true, core::DType::kF32},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const core::Computation form = AddAndScale(row.normalizes, row.columns, row.guarded, row.window, row.dtype);
    ASSERT_TRUE(core::Validate(form)) << core::Validate(form).error().Format();
    const schedule::Problem problem = testing::ProblemOf(form, {{"N", 37}, {"C", 70}});
    const schedule::Code code = testing::CodeOf(problem, row.schedule, row.parameters);
    const auto run = testing::RunOnSimulator(problem, code, 0, {{"out", "x"}});
    EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels;
  }
}

// A term outside is not there, or 0 times what it would have been multiplied by.
TEST(Padding, IsLeftOutOrZero) {
  const testing::SizeNumbers sizes = {{"C", 3}, {"L", 50}};
  schedule::Problem problem = testing::ProblemOf(Depthwise(), sizes);
  const auto run = [&](bool zero_unless_seen, core::Guard::Outside seen, uint64_t infinite = 3) {
    problem.zero_unless_seen = zero_unless_seen;
    for (core::Stage& stage : problem.form.stages)
      for (core::Node& node : stage.nodes)
        if (auto* sum = std::get_if<core::Reduce>(&node)) sum->guards[0].outside = seen;
    return testing::RunOnSimulator(problem, testing::CodeOf(problem, schedule::MapSchedule()), infinite).mismatch;
  };
  using Outside = core::Guard::Outside;
  EXPECT_EQ(run(false, Outside::kUnknown), "");
  EXPECT_NE(run(true, Outside::kUnknown).find("nan instead of"), std::string::npos);
  EXPECT_EQ(run(true, Outside::kUnknown, 0), "");
  EXPECT_EQ(run(true, Outside::kLeftOut), "");
  EXPECT_EQ(run(false, Outside::kZero), "");
}

// By the rows' end left out, by the columns' 0: in tiles, and on tensor cores.
TEST(Padding, IsToldForEachDirection) {
  using Outside = core::Guard::Outside;
  StageBuilder t0("t0", {"K", "H", "W"}), out("y", {"K", "H", "W"});
  const core::Affine row = V(1) + V(4) - At("1"), column = V(2) + V(5) - At("1");
  std::vector<core::Guard> guards = {Within(row, "0", "H"), Within(column, "0", "W")};
  guards[0].outside = Outside::kLeftOut, guards[1].outside = Outside::kZero;
  t0.Reduce(ReduceOp::kSum, {{3, "C"}, {4, "3"}, {5, "3"}},
            t0.Product({t0.Read("x", {V(3), row, column}), t0.Read("w", {V(0), V(3), V(4), V(5)})}), guards);
  out.Output(core::DType::kF16);
  out.ReadStage("t0", {V(0), V(1), V(2)});
  const core::Computation form =
      Of({Input("x", {"C", "H", "W"}, core::DType::kF16), Input("w", {"K", "C", "3", "3"}, core::DType::kF16),
          Output("y", {"K", "H", "W"}, core::DType::kF16)},
         {t0, out});
  const testing::SizeNumbers sizes = {{"K", 9}, {"C", 5}, {"H", 6}, {"W", 11}};
  core::Computation without = form;
  for (core::Guard& guard : std::get<core::Reduce>(without.stages[0].nodes.back()).guards)
    guard.outside = Outside::kLeftOut;
  const schedule::Problem problem = testing::ProblemOf(form, sizes), all_left_out = testing::ProblemOf(without, sizes);
  for (const schedule::Schedule& schedule : {schedule::TilesSchedule(), schedule::TensorTilesSchedule()}) {
    SCOPED_TRACE(std::string(schedule.id));
    const schedule::Code code = testing::CodeOf(problem, schedule);
    EXPECT_EQ(testing::RunOnSimulator(problem, code).mismatch, "");
    EXPECT_EQ(testing::RunOnSimulator(problem, code, 40).mismatch, "") << code.kernels;
    EXPECT_NE(testing::RunOnSimulator(all_left_out, code, 40).mismatch, "");
  }
}

TEST(Refusals, WhatIsNoScanOrSumByKey) {
  const auto refusal = [](const core::Computation& form, const testing::SizeNumbers& sizes,
                          const schedule::Schedule& schedule) -> std::string {
    try {
      return testing::CodeOf(testing::ProblemOf(form, sizes), schedule).kernels;
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(testing::Softmax(), {{"N", 4}, {"C", 9}}, schedule::ScanSchedule()),
            "there are several reductions");
  EXPECT_EQ(refusal(testing::Histogram(), {{"N", 40}, {"B", 7}}, schedule::ScanSchedule()),
            "the terms of a result are not those up to its own position");
  EXPECT_EQ(refusal(testing::CumulativeSum(), {{"N", 3}, {"C", 8}}, schedule::ScatterSchedule()),
            "the terms are not chosen by a key");
}

}  // namespace
}  // namespace warpwright
