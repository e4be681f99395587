// Which form is the better one, and how intermediates are said: their parts, and which way their coordinates run.
#include "lift/form_choice.h"

#include <gtest/gtest.h>

#include "core/computation_text.h"
#include "lift/forward_coordinates.h"
#include "lift/parts_apart.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright::lift {
namespace {

using core::ReduceOp;
using testing::StageBuilder;
using testing::V;
using namespace testing;  // NOLINT: operators on positions

// y[m, n] = p[m, n] - the sum of p over n, for a product p: of its results, or of all terms once more.
core::Computation Centred(bool of_results) {
  StageBuilder p("t0", {"M", "N"}), sum("t1", {"M"}), y("y", {"M", "N"});
  p.Reduce(ReduceOp::kSum, {{2, "K"}}, p.Product({p.Read("a", {V(0), V(2)}), p.Read("b", {V(1), V(2)})}));
  if (of_results) sum.Reduce(ReduceOp::kSum, {{1, "N"}}, sum.ReadStage("t0", {V(0), V(1)}));
  else
    sum.Reduce(ReduceOp::kSum, {{1, "N"}, {2, "K"}},
               sum.Product({sum.Read("a", {V(0), V(2)}), sum.Read("b", {V(1), V(2)})}));
  y.Output();
  y.Subtract({y.ReadStage("t0", {V(0), V(1)}), y.ReadStage("t1", {V(0)})});
  core::Computation form{.tensors = {Input("a", {"M", "K"}), Input("b", {"N", "K"}), Output("y", {"M", "N"})}};
  form.stages = {p.stage, sum.stage, y.stage};
  return Finished(std::move(form));
}

TEST(FormChoice, SumsOfResultsAreLessWorkThanSumsOfAllTerms) {
  const core::Computation terms = Centred(false), results = Centred(true);
  EXPECT_TRUE(lift::MultipliesTwice(terms));
  EXPECT_FALSE(lift::MultipliesTwice(results));
  const std::vector<core::Sizes> sizes = {{{"M", 5}, {"N", 7}, {"K", 6}}};
  EXPECT_TRUE(lift::IsLessWork(results, terms, sizes));
  EXPECT_FALSE(lift::IsLessWork(terms, results, sizes));
  EXPECT_FALSE(lift::IsLessWork(results, results, sizes));
  core::Computation of_others = results;
  of_others.assumptions = {"M = 4"};
  EXPECT_FALSE(lift::IsLessWork(of_others, terms, sizes)) << "it is not of these sizes";
}

TEST(FormChoice, FewerSizesOfOneValueAreMoreGeneral) {
  core::Computation none = Centred(true), one = none, divided = none;
  one.assumptions = {"M = 4"};
  divided.assumptions = {"N % G = 0"};
  EXPECT_TRUE(lift::IsMoreGeneral(none, one));
  EXPECT_FALSE(lift::IsMoreGeneral(one, none));
  EXPECT_FALSE(lift::IsMoreGeneral(none, divided)) << "what divides what is another thing";
  EXPECT_TRUE(lift::IsOfAllSizes(divided));
  EXPECT_FALSE(lift::IsOfAllSizes(one));
  for (core::Node& node : divided.stages[2].nodes)
    if (auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && read->tensor == "t1")
      read->at[0] = Quotient(0, "M / G");
  EXPECT_FALSE(lift::IsOfAllSizes(divided));
  EXPECT_TRUE(lift::IsMoreGeneral(none, divided));
}

// s[m, 0] = the sum of x[m, n] over n, s[m, 1] that of the squares; y[m, n] is made of both. `at`: where the second one
// is read.
core::Computation TwoStatistics(const core::Affine& at) {
  StageBuilder mean("t0", {"M", "2"}), squares("t0", {"M", "2"}), y("y", {"M", "N"});
  mean.Reduce(ReduceOp::kSum, {{2, "N"}}, mean.Read("x", {V(0), V(2)}));
  mean.stage.domain = {Within(V(1), "", "1")};
  const auto x = squares.Read("x", {V(0), V(2)});
  squares.Reduce(ReduceOp::kSum, {{2, "N"}}, squares.Product({x, x}));
  squares.stage.domain = {Within(V(1), "1", "")};
  y.Output();
  y.Product({y.ReadStage("t0", {V(0), At("0")}), y.ReadStage("t0", {V(0), at}), y.Read("x", {V(0), V(1)})});
  core::Computation form{.tensors = {Input("x", {"M", "N"}), Output("y", {"M", "N"})}};
  form.stages = {mean.stage, squares.stage, y.stage};
  return Finished(std::move(form));
}

TEST(PartsApart, ByTheNumberThatReadersGive) {
  const core::Computation apart = lift::WithPartsApart(TwoStatistics(At("1")));
  EXPECT_TRUE(core::Validate(apart));
  EXPECT_EQ(core::ComputationText(apart),
            "t0_0[i0] = sum_{r0<N} x[i0,r0]\n"
            "t0_1[i0] = sum_{r0<N} x[i0,r0]^2\n"
            "y[i0,i1] = t0_0[i0] * t0_1[i0] * x[i0,i1]  for i0<M, i1<N\n");
}

TEST(PartsApart, NotWhereAReaderGivesAnotherPosition) {
  const core::Computation form = TwoStatistics(V(1));
  EXPECT_EQ(lift::WithPartsApart(form), form);
}

// t[h, w] = the sum of x[w + r - 1, H - h - 1] over three r, where there are; y[i, j] = t[H - j - 1, i] + x[i, j].
TEST(ForwardCoordinates, AreThoseThatReadersHave) {
  StageBuilder window("t0", {"H", "W"}), y("y", {"W", "H"});
  window.Reduce(ReduceOp::kSum, {{2, "3"}}, window.Read("x", {V(1) + V(2) - At("1"), At("H - 1") - V(0)}),
                {Within(V(1) + V(2) - At("1"), "0", "W")});
  y.Output();
  y.Sum({y.ReadStage("t0", {At("H - 1") - V(1), V(0)}), y.Read("x", {V(0), V(1)})});
  core::Computation form{.tensors = {Input("x", {"W", "H"}), Output("y", {"W", "H"})}};
  form.stages = {window.stage, y.stage};
  const core::Computation forward = lift::WithForwardCoordinates(Finished(std::move(form)));
  EXPECT_TRUE(core::Validate(forward));
  EXPECT_EQ(core::ComputationText(forward),
            "t0[i0,i1] = sum_{r0<3 where 0 <= i1+r0-1 < W} x[i1+r0-1,i0]  for i0<H, i1<W\n"
            "y[i0,i1] = t0[i1,i0] + x[i0,i1]  for i0<W, i1<H\n");
}

}  // namespace
}  // namespace warpwright::lift
