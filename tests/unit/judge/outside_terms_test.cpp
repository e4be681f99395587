// Whether an entry leaves terms beyond the ends of its inputs out, or multiplies 0: seen in runs with infinite weights.
#include "judge/outside_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "config/manifest.h"
#include "core/outside_terms.h"
#include "judge/lift_shapes.h"
#include "tests/support/computation_builder.h"
#include "tests/support/fake_evaluator.h"

namespace warpwright::outside_terms_test {
namespace {

using namespace testing;  // NOLINT: builders of forms
using core::Guard;
using Outside = Guard::Outside;

const char* const kManifest = R"(version: 1
kernels:
  - name: k
    file: k.cu
    entry: k
    args:
      x: {buffer: f32, shape: [h, w], role: in}
      f: {buffer: f32, shape: [3, 3], role: in}
      y: {buffer: f32, shape: [h, w], role: out}
      h: {scalar: i32}
      w: {scalar: i32}
    cases:
      - {h: 9, w: 11}
      - {h: 8, w: 13}
)";

// y[i,j] = sum x[i+r-1, j+s-1] * f[r,s]
core::Computation Filter(bool rectified = false, bool shifted = false) {
  StageBuilder t0("t0", {"h", "w"}), y("y", {"h", "w"});
  const core::Affine row = V(0) + V(2) - At("1"), column = V(1) + V(3) - At("1");
  auto x = t0.Read("x", {row, column});
  if (shifted) x = t0.Max({t0.Sum({x, t0.Number(1)}), t0.Number(0)});
  t0.Reduce(core::ReduceOp::kSum, {{2, "3"}, {3, "3"}}, t0.Product({x, t0.Read("f", {V(2), V(3)})}),
            {Within(row, "0", "h"), Within(column, "0", "w")});
  y.Output();
  const auto sum = y.ReadStage("t0", {V(0), V(1)});
  if (rectified) y.Max({sum, y.Number(0)});
  core::Computation form;
  form.tensors = {Input("x", {"h", "w"}), Input("f", {"3", "3"}), Output("y", {"h", "w"})};
  form.stages = {t0.stage, y.stage};
  form.sizes = {"h", "w"};
  return form;
}

// What an entry does with a term beyond the rows and beyond the columns, and with its result.
struct Row {
  const char* name;
  bool zero_row, zero_column;
  double (*epilogue)(double);
  Outside row, column;
  bool shifted = false;  // of what is made of an element before it is multiplied; 0 then stands beyond the bounds
};

void Compute(const Row& entry, FakeRun& run) {
  const int64_t h = run.Scalar("h"), w = run.Scalar("w");
  for (int64_t i = 0; i < h; ++i)
    for (int64_t j = 0; j < w; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 3; ++s) {
          const int64_t row = i + r - 1, column = j + s - 1;
          const bool in_rows = row >= 0 && row < h, in_columns = column >= 0 && column < w;
          if ((!in_rows && !entry.zero_row) || (!in_columns && !entry.zero_column)) continue;
          double x = in_rows && in_columns ? run.Get("x", static_cast<size_t>(row * w + column)) : 0;
          if (entry.shifted && in_rows && in_columns) x = std::fmax(x + 1, 0);
          sum += x * run.Get("f", static_cast<size_t>(r * 3 + s));
        }
      run.Set("y", static_cast<size_t>(i * w + j), entry.epilogue(sum));
    }
}

double Same(double value) { return value; }
double Rectified(double value) { return std::fmax(value, 0); }  // of no number 0
double Positive(double value) { return value > 0 || std::isnan(value) ? value : 0; }

TEST(OutsideTerms, AreSeenForEachDirection) {
  const Row rows[] = {
      {"both left out", false, false, Same, Outside::kLeftOut, Outside::kLeftOut},
      {"both zero", true, true, Same, Outside::kZero, Outside::kZero},
      {"rows left out", false, true, Same, Outside::kLeftOut, Outside::kZero},
      {"columns left out", true, false, Same, Outside::kZero, Outside::kLeftOut},
      {"rectified, left out", false, false, Rectified, Outside::kLeftOut, Outside::kLeftOut},
      {"rectified, zero", true, true, Rectified, Outside::kZero, Outside::kZero},
      {"positive, both", false, true, Positive, Outside::kLeftOut, Outside::kZero},
      {"shifted, zero", true, true, Same, Outside::kZero, Outside::kZero, true},
      {"shifted, left out", false, false, Same, Outside::kLeftOut, Outside::kLeftOut, true},
  };
  const core::KernelSpec spec = config::ParseManifest(kManifest, "test")->kernels[0];
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    FakeEvaluator evaluator;
    evaluator.Add("// k", [&](FakeRun& run) { Compute(row, run); });
    core::LiftRequest request{.source = {"", "k.cu", "// k"}, .spec = spec, .device = "sim:h200"};
    request.shapes = judge::MakeLiftShapes(spec, 9, 1 << 20);
    core::Lifted lifted{.computation = Filter(row.epilogue != Same, row.shifted)};
    ASSERT_TRUE(core::Validate(lifted.computation)) << core::Validate(lifted.computation).error().Format();
    ASSERT_TRUE(judge::TellOutsideTerms(request, evaluator, lifted));
    const auto& guards = std::get<core::Reduce>(lifted.computation.stages[0].nodes.back()).guards;
    EXPECT_EQ(core::Name(guards[0].outside), core::Name(row.row));
    EXPECT_EQ(core::Name(guards[1].outside), core::Name(row.column));
  }
}

// What an activation with a shift makes of 0 is not 0, and would not be left out.
TEST(OutsideTerms, AreZeroBehindActivations) {
  const core::Computation form = Filter(false, true);
  const core::Stage& stage = form.stages[0];
  const auto& sum = std::get<core::Reduce>(stage.nodes.back());
  const std::vector<core::NodeId>& factors = std::get<core::Nary>(stage.nodes[sum.body]).args;
  const auto activated = std::find_if(factors.begin(), factors.end(), [&](core::NodeId factor) {
    return std::holds_alternative<core::Nary>(stage.nodes[factor]);
  });
  ASSERT_NE(activated, factors.end());
  for (const Guard& guard : sum.guards)
    EXPECT_EQ(core::NodesThatEnd(form, stage, sum, guard), std::set<core::NodeId>{*activated});
}

const char* const kMasked = R"(version: 1
kernels:
  - name: k
    file: k.cu
    entry: k
    args:
      s: {buffer: f32, shape: [n, n], role: in}
      v: {buffer: f32, shape: [n], role: in}
      y: {buffer: f32, shape: [n], role: out}
      n: {scalar: i32}
    cases:
      - {n: 9}
      - {n: 12}
)";

// y[i] = sum_{j <= i} exp(s[i,j]) * v[j]: a mask may have made the other scores -infinity, whose weights are 0.
core::Computation Weighted() {
  StageBuilder t0("t0", {"n"}), y("y", {"n"});
  const auto weight = t0.Apply(core::Function::kExp, {t0.Read("s", {V(0), V(1)})});
  t0.Reduce(core::ReduceOp::kSum, {{1, "n"}}, t0.Product({weight, t0.Read("v", {V(1)})}),
            {Within(V(1) - V(0), "", "1")});
  y.Output();
  y.ReadStage("t0", {V(0)});
  core::Computation form;
  form.tensors = {Input("s", {"n", "n"}), Input("v", {"n"}), Output("y", {"n"})};
  form.stages = {t0.stage, y.stage};
  form.sizes = {"n"};
  return form;
}

TEST(OutsideTerms, OfMasksAreWeights) {
  const core::KernelSpec spec = config::ParseManifest(kMasked, "test")->kernels[0];
  for (const bool zero : {false, true}) {
    FakeEvaluator evaluator;
    evaluator.Add("// k", [&](FakeRun& run) {
      const int64_t n = run.Scalar("n");
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < (zero ? n : i + 1); ++j)
          sum += (j <= i ? std::exp(run.Get("s", static_cast<size_t>(i * n + j))) : 0) *
                 run.Get("v", static_cast<size_t>(j));
        run.Set("y", static_cast<size_t>(i), sum);
      }
    });
    core::LiftRequest request{.source = {"", "k.cu", "// k"}, .spec = spec, .device = "sim:h200"};
    request.shapes = judge::MakeLiftShapes(spec, 9, 1 << 20);
    core::Lifted lifted{.computation = Weighted()};
    ASSERT_TRUE(judge::TellOutsideTerms(request, evaluator, lifted));
    const auto& guards = std::get<core::Reduce>(lifted.computation.stages[0].nodes.back()).guards;
    EXPECT_EQ(core::Name(guards[0].outside), core::Name(zero ? Outside::kZero : Outside::kLeftOut));
  }
}

TEST(OutsideTerms, AskNothingOfFormsWithoutThem) {
  const core::KernelSpec spec = config::ParseManifest(kManifest, "test")->kernels[0];
  FakeEvaluator evaluator;
  core::LiftRequest request{.source = {"", "k.cu", "// k"}, .spec = spec, .device = "sim:h200"};
  request.shapes = judge::MakeLiftShapes(spec, 9, 1 << 20);
  core::Lifted lifted{.computation = Filter()};
  std::get<core::Reduce>(lifted.computation.stages[0].nodes.back()).guards.clear();
  ASSERT_TRUE(judge::TellOutsideTerms(request, evaluator, lifted));
  EXPECT_TRUE(evaluator.calls.empty());
}

}  // namespace
}  // namespace warpwright::outside_terms_test
