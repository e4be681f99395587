// Stencils, filters and windows in registers: forms of every kind of edge, run on the simulator at sizes that leave
// tails everywhere, and the text of some.
#include <gtest/gtest.h>

#include <limits>

#include "schedule/schedules.h"
#include "schedule/written_terms.h"
#include "tests/support/computation_samples.h"
#include "tests/support/golden.h"
#include "tests/support/schedule_kit.h"

namespace warpwright::window_test {
namespace {

using core::DType;
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

// One time step: y = x + c * (neighbours - 4 x) inside, x or `border` at the edges.
core::Computation Heat(std::optional<double> border) {
  const std::vector<std::pair<std::string, std::string>> rows = {{"1", "0"}, {"1", "H-1"}};
  StageBuilder inside("y", {"H-2", "W-2"});
  inside.Output().stage.at = {V(0) + At("1"), V(1) + At("1")};
  const core::Affine i = V(0) + At("1"), j = V(1) + At("1");
  const auto own = inside.Read("x", {i, j});
  const auto around = inside.Sum({inside.Read("x", {i - At("1"), j}), inside.Read("x", {i + At("1"), j}),
                                  inside.Read("x", {i, j - At("1")}), inside.Read("x", {i, j + At("1")}),
                                  inside.Product({inside.Number(-4), own})});
  inside.Sum({own, inside.Product({inside.Scalar("c"), around})});
  std::vector<StageBuilder> stages;
  const auto add = [&](const std::vector<std::string>& extents, const core::Affine& y, const core::Affine& x) {
    StageBuilder& part = stages.emplace_back("y", extents);
    part.Output().stage.at = {y, x};
    if (border) part.Number(*border);
    else part.Read("x", {y, x});
  };
  add({"1", "W"}, At("0"), V(1));
  add({"H-2", "1"}, V(0) + At("1"), At("0"));
  add({"H-2", "1"}, V(0) + At("1"), At("W-1"));
  add({"1", "W"}, At("H-1"), V(1));
  stages.push_back(inside);
  core::Computation form = Of({Input("x", {"H", "W"}), Output("y", {"H", "W"})}, stages);
  form.scalars = {"c"};
  return form;
}

// y[n, i] = x[n, i - 1] + 2 x[n, i] + 3 x[n, i + 1], a part for each end: there the nearest element, or the farthest.
core::Computation Filter(bool wraps, DType dtype) {
  std::vector<StageBuilder> stages;
  const auto add = [&](const std::string& count, const core::Affine& at, const core::Affine& left,
                       const core::Affine& right) {
    StageBuilder& part = stages.emplace_back("y", std::vector<std::string>{"N", count});
    part.Output(dtype).stage.at = {V(0), at};
    part.Sum({part.Read("x", {V(0), left}), part.Product({part.Number(2), part.Read("x", {V(0), at})}),
              part.Product({part.Number(3), part.Read("x", {V(0), right})})});
  };
  const auto plus = [](const char* size) { return V(1) + At(size); };
  add("1", At("0"), wraps ? At("W-1") : At("0"), At("1"));
  add("W-2", plus("1"), plus("0"), plus("2"));
  add("1", At("W-1"), At("W-2"), wraps ? At("0") : At("W-1"));
  return Of({Input("x", {"N", "W"}, dtype), Output("y", {"N", "W"}, dtype)}, stages);
}

// p = 2 q - p + v * (q around), inside: in place, and of two inputs.
core::Computation Wave() {
  StageBuilder out("p", {"H-2", "W-2"});
  out.Output().stage.at = {V(0) + At("1"), V(1) + At("1")};
  const core::Affine i = V(0) + At("1"), j = V(1) + At("1");
  const auto around = out.Sum({out.Read("q", {i - At("1"), j}), out.Read("q", {i + At("1"), j}),
                               out.Read("q", {i, j - At("1")}), out.Read("q", {i, j + At("1")})});
  const auto step = out.Product({out.Read("v", {i, j}), around});
  out.Sum({out.Product({out.Number(2), out.Read("q", {i, j})}), out.Minus(out.Read("p", {i, j})), step});
  core::TensorArgument p = Output("p", {"H", "W"});
  p.read = true;
  return Of({p, Input("q", {"H", "W"}), Input("v", {"H", "W"})}, {out});
}

// y[d, i, j] = sum of 3 x 3 x 3 around, outside of which is nothing.
core::Computation Box() {
  StageBuilder t0("t0", {"D", "H", "W"}), out("y", {"D", "H", "W"});
  const core::Affine z = V(0) + V(3) - At("1"), y = V(1) + V(4) - At("1"), x = V(2) + V(5) - At("1");
  t0.Reduce(ReduceOp::kSum, {{3, "3"}, {4, "3"}, {5, "3"}}, t0.Read("x", {z, y, x}),
            {Within(z, "0", "D"), Within(y, "0", "H"), Within(x, "0", "W")});
  out.Output();
  out.ReadStage("t0", {V(0), V(1), V(2)});
  return Of({Input("x", {"D", "H", "W"}), Output("y", {"D", "H", "W"})}, {t0, out});
}

// y[c, i, j] = sum of 3 x 3 around, weighed for each channel.
core::Computation Depthwise(DType dtype) {
  StageBuilder t0("t0", {"C", "H", "W"}), out("y", {"C", "H", "W"});
  const core::Affine y = V(1) + V(3) - At("1"), x = V(2) + V(4) - At("1");
  t0.Reduce(ReduceOp::kSum, {{3, "3"}, {4, "3"}},
            t0.Product({t0.Read("x", {V(0), y, x}), t0.Read("w", {V(0), V(3), V(4)})}),
            {Within(y, "0", "H"), Within(x, "0", "W")});
  out.Output(dtype);
  out.ReadStage("t0", {V(0), V(1), V(2)});
  return Of(
      {Input("x", {"C", "H", "W"}, dtype), Input("w", {"C", "3", "3"}, dtype), Output("y", {"C", "H", "W"}, dtype)},
      {t0, out});
}

// The six elements around, of a cube that wraps in no direction: y and its neighbours are inside.
core::Computation Star() {
  StageBuilder out("y", {"D-2", "H-2", "W-2"});
  out.Output().stage.at = {V(0) + At("1"), V(1) + At("1"), V(2) + At("1")};
  const core::Affine z = V(0) + At("1"), y = V(1) + At("1"), x = V(2) + At("1");
  out.Sum({out.Read("x", {z - At("1"), y, x}), out.Read("x", {z + At("1"), y, x}), out.Read("x", {z, y - At("1"), x}),
           out.Read("x", {z, y + At("1"), x}), out.Read("x", {z, y, x - At("1")}), out.Read("x", {z, y, x + At("1")})});
  return Of({Input("x", {"D", "H", "W"}), Output("y", {"D", "H", "W"})}, {out});
}

// Largest of 3 x 3 around, by steps of two.
core::Computation PaddedPool(ReduceOp op) {
  const std::vector<std::string> extents = {"N", "(H-1)/2+1", "(W-1)/2+1"};
  StageBuilder t0("t0", extents), out("y", extents);
  const core::Affine y = V(1) * "2" + V(3) - At("1"), x = V(2) * "2" + V(4) - At("1");
  t0.Reduce(op, {{3, "3"}, {4, "3"}}, t0.Read("x", {V(0), y, x}), {Within(y, "0", "H"), Within(x, "0", "W")});
  out.Output();
  out.ReadStage("t0", {V(0), V(1), V(2)});
  return Of({Input("x", {"N", "H", "W"}), Output("y", extents)}, {t0, out});
}

// Largest of 3 x 3, by steps of two.
core::Computation Pool() {
  const std::vector<std::string> extents = {"N", "(H-3)/2+1", "(W-3)/2+1"};
  StageBuilder t0("t0", extents), out("y", extents);
  t0.Reduce(ReduceOp::kMax, {{3, "3"}, {4, "3"}}, t0.Read("x", {V(0), V(1) * "2" + V(3), V(2) * "2" + V(4)}));
  out.Output();
  out.ReadStage("t0", {V(0), V(1), V(2)});
  return Of({Input("x", {"N", "H", "W"}), Output("y", extents)}, {t0, out});
}

struct Row {
  const char* name;
  core::Computation form;
  testing::SizeNumbers sizes;
  const char* rows = "auto";
  const char* says = "";  // something that the text has
  const char* golden = nullptr;
  const char* padding = "left_out";
  uint64_t infinite = 0;  // one in so many elements
};

std::vector<Row> Rows() {
  return {
      {"heat", Heat({}), {{"H", 19}, {"W", 41}}, "2", "clamped(w - 1, W)", "heat_window.cu"},
      {"heat with cold edges", Heat(0.5), {{"H", 7}, {"W", 33}}, "8", "= 0.5f;"},
      {"filter", Filter(false, DType::kF32), {{"N", 5}, {"W", 70}}, "2", "clamped(w - 1, W)"},
      {"periodic filter", Filter(true, DType::kF32), {{"N", 5}, {"W", 70}}, "1", "wrapped("},
      {"filter of halves", Filter(false, DType::kF16), {{"N", 3}, {"W", 45}}, "2", "__half2float(x_pack.at[k])"},
      {"wave", Wave(), {{"H", 9}, {"W", 37}}, "2", "q_window[kRows + 2][kWidth + 2]", "wave_window.cu"},
      {"box", Box(), {{"D", 3}, {"H", 6}, {"W", 34}}, "2", "x_window_3"},
      {"star", Star(), {{"D", 4}, {"H", 7}, {"W", 37}}, "1", "x_neighbours"},
      {"box of no rows", Box(), {{"D", 3}, {"H", 6}, {"W", 34}}, "1", "w >= 1 ? "},
      {"depthwise",
       Depthwise(DType::kF32),
       {{"C", 3}, {"H", 6}, {"W", 34}},
       "2",
       "if (isnan(result)) result = careful("},
      {"depthwise of infinities",
       Depthwise(DType::kF16),
       {{"C", 9}, {"H", 6}, {"W", 40}},
       "2",
       "if (isnan(result)) result = careful(",
       nullptr,
       "left_out",
       40},
      {"depthwise with zeros",
       Depthwise(DType::kF32),
       {{"C", 3}, {"H", 7}, {"W", 37}},
       "auto",
       "inside && col >= 1 ? from[col - 1] : 0.0f",
       "depthwise_window.cu",
       "zero"},
      {"depthwise of halves with zeros",
       Depthwise(DType::kF16),
       {{"C", 2}, {"H", 5}, {"W", 40}},
       "2",
       "inside ? __half2float(x_pack.at[k]) : 0.0f",
       nullptr,
       "zero"},
      {"padded pool", PaddedPool(ReduceOp::kMax), {{"N", 3}, {"H", 11}, {"W", 70}}, "2", ": -INFINITY"},
      {"padded pool of smallest", PaddedPool(ReduceOp::kMin), {{"N", 3}, {"H", 12}, {"W", 71}}, "1", ": INFINITY"},
      {"pool", Pool(), {{"N", 3}, {"H", 11}, {"W", 70}}, "2", "x_window[2 * j + 2][2]"},
  };
}

class Windows : public ::testing::TestWithParam<Row> {};

TEST_P(Windows, ComputeWhatTheFormSays) {
  const Row& row = GetParam();
  ASSERT_TRUE(core::Validate(row.form)) << core::Validate(row.form).error().Format();
  schedule::Problem problem = testing::ProblemOf(row.form, row.sizes);
  problem.zero_unless_seen = row.padding == schedule::kPadding.values.back();
  const schedule::Code code = testing::CodeOf(problem, schedule::WindowSchedule(), {{"rows_per_thread", row.rows}});
  const auto run = testing::RunOnSimulator(problem, code, row.infinite);
  EXPECT_EQ(run.fault + run.mismatch, "") << code.kernels << code.launch;
  EXPECT_NE((code.kernels + code.launch).find(row.says), std::string::npos) << code.kernels << code.launch;
  if (row.golden != nullptr) ExpectGolden(std::string("schedules/") + row.golden, code.kernels + "\n" + code.launch);
}

std::string NameOf(const ::testing::TestParamInfo<Row>& row) {
  std::string name = row.param.name;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Forms, Windows, ::testing::ValuesIn(Rows()), NameOf);

TEST(WindowRefusals, SayWhy) {
  const auto refusal = [](const core::Computation& form, const testing::SizeNumbers& sizes) -> std::string {
    try {
      return testing::CodeOf(testing::ProblemOf(form, sizes), schedule::WindowSchedule()).kernels;
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(testing::Gelu(), {{"N", 400}}), "no input is read at neighbouring places");
  EXPECT_EQ(refusal(Filter(false, DType::kF32), {{"N", 400}, {"W", 9}}), "rows are too short for neighbouring threads");
}

// A maximum of nothing but NaN is where the original's loop over them began: with an infinity, or with a first term.
TEST(WrittenTerms, OfMaximaBeginAsLoopsDo) {
  StageBuilder pool("y", {"n"});
  pool.Output();
  pool.Reduce(ReduceOp::kMax, {{1, "2"}}, pool.Read("x", {V(0) + V(0) + V(1)}));
  const core::Computation form = Of({Input("x", {"2*n"}), Output("y", {"n"})}, {pool});
  schedule::Problem problem = testing::ProblemOf(form, {{"n", 40}});
  problem.entry.names_infinity = false;
  auto written = schedule::WithWrittenTerms(problem, form.stages[0], 8);
  ASSERT_TRUE(written);
  EXPECT_EQ(std::get<core::Nary>(written->nodes.back()).args.size(), 2u);
  problem.entry.names_infinity = true;
  written = schedule::WithWrittenTerms(problem, form.stages[0], 8);
  ASSERT_TRUE(written);
  const auto& largest = std::get<core::Nary>(written->nodes.back());
  ASSERT_EQ(largest.args.size(), 3u);
  EXPECT_EQ(std::get<core::Constant>(written->nodes[largest.args[0]]).value, -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace warpwright::window_test
