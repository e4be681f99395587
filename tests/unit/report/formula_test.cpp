// What the original computes, as reports show it.
#include "report/formula.h"

#include <gtest/gtest.h>

#include "memory/lift_json.h"
#include "report/explain.h"
#include "report/format.h"
#include "tests/support/computation_samples.h"

namespace warpwright {
namespace {

core::Lifted LiftedOf(core::Computation computation, std::vector<std::string> assumptions = {}) {
  computation.assumptions = std::move(assumptions);
  return {.computation = std::move(computation), .shapes = 3, .verified = true};
}
core::Computation Renamed(core::Computation computation, const std::string& from, const std::string& to) {
  for (core::TensorArgument& tensor : computation.tensors)
    if (tensor.name == from) tensor.name = to;
  for (core::Stage& stage : computation.stages) {
    if (stage.name == from) stage.name = to;
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && read->tensor == from) read->tensor = to;
  }
  return computation;
}

TEST(Formula, ItsRooflineIsNamedWithTheOtherWhereTheyDiffer) {
  report::Explanation e;
  e.roofline_share_after = 0.5;
  e.counted_roofline_share_after = 0.501;
  const std::string alone = report::RooflineOfFormula(e);
  EXPECT_TRUE(alone.starts_with("The roofline is that of the formula: ")) << alone;
  EXPECT_EQ(alone.find("counters"), std::string::npos) << alone;
  e.counted_roofline_share_after = 0.75;
  EXPECT_TRUE(report::RooflineOfFormula(e).ends_with("by the original's buffers and counters it would be 75 %."));
}

TEST(Formula, IsShownWithWhatItRestsOn) {
  const report::Formula formula = report::FormulaOf(LiftedOf(testing::Gelu(), {"N = 7"}));
  EXPECT_EQ(formula.text, "out[i0] = 0.5 * x[i0] * (1 + erf(x[i0] * 0.70710678))  for i0<N\n");
  EXPECT_EQ(formula.headline, "out[i0] = 0.5 * x[i0] * (1 + erf(x[i0] * 0.70710678))");
  EXPECT_EQ(report::WhyNoFormula(formula), "");
  EXPECT_EQ(report::FormulaMarkdown(formula, report::FormulaStyle::kText),
            "```text\n" + formula.text +
                "```\n\nFound by running the original: the same at 3 shapes, and checked with numbers at a further "
                "one. Assumptions: `N = 7`.\n");
  EXPECT_TRUE(report::FormulaMarkdown(formula, report::FormulaStyle::kMathIfShort).starts_with("```math\n\\begin{"));
  EXPECT_EQ(report::FormulaPlain(formula, 1000), formula.text + "Assumptions: N = 7\n");
}

TEST(Formula, OnlyShortOnesAreSet) {
  core::Computation longer = testing::Softmax();
  for (const int copy : {1, 2, 3}) {
    longer.stages.push_back(longer.stages.back());
    longer.stages.back().name += std::to_string(copy);
  }
  const report::Formula formula = report::FormulaOf(LiftedOf(longer), false);
  EXPECT_GT(formula.text.size(), 240u);
  EXPECT_EQ(formula.latex, "");
  EXPECT_TRUE(report::FormulaMarkdown(formula, report::FormulaStyle::kMathIfShort).starts_with("```text\n"));
}

TEST(Formula, IsFullyStagedOnRequest) {
  EXPECT_EQ(report::FormulaOf(LiftedOf(testing::Softmax()), true).text.find("t1["), std::string::npos);
  EXPECT_NE(report::FormulaOf(LiftedOf(testing::Softmax()), false).text.find("t1["), std::string::npos);
}

TEST(Formula, IsCutAtALine) {
  const report::Formula formula = report::FormulaOf(LiftedOf(testing::Softmax()), false);
  const size_t first = formula.text.find('\n') + 1;
  EXPECT_EQ(report::FormulaPlain(formula, first + 10), formula.text.substr(0, first) + "...\n");
  EXPECT_LT(report::FormulaPlain(formula, 10).size(), 20u);
  EXPECT_EQ(report::FormulaSection(formula, 0), "");
}

// Names and assumptions come from the kernel.
TEST(Formula, CannotLeaveItsPlace) {
  report::Formula formula =
      report::FormulaOf(LiftedOf(Renamed(testing::Gelu(), "x", "```</pre><script>"), {"`@octocat` <img>", "\x1b[2J"}));
  const std::string markdown = report::FormulaMarkdown(formula, report::FormulaStyle::kText);
  EXPECT_TRUE(markdown.starts_with("````text\n")) << markdown;
  EXPECT_NE(markdown.find("\n````\n"), std::string::npos);
  EXPECT_NE(markdown.find("`` `@octocat` <img> ``"), std::string::npos) << markdown;
  const std::string math = report::FormulaMarkdown(formula, report::FormulaStyle::kMathIfShort);
  EXPECT_TRUE(math.starts_with("```math\n")) << math;
  EXPECT_EQ(math.substr(8, math.find("\n```\n") - 8).find('`'), std::string::npos);
  const std::string html = report::FormulaHtml(formula);
  for (const char* active : {"<script", "<img"}) EXPECT_EQ(html.find(active), std::string::npos) << html;
  for (const std::string& text : {markdown, math, html, report::FormulaPlain(formula, 1000)})
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Formula, IsReadFromTheTrajectory) {
  const auto computes = [](const std::string& data) {
    memory::TrajectoryView view;
    memory::StepView step;
    step.record.kind = memory::StepKind::kLift;
    step.outcome.emplace();
    step.outcome->data = data;
    view.steps = {step};
    return report::Explain(view, {}).computes;
  };
  const auto known = computes(memory::EncodeLift(LiftedOf(testing::Softmax())));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->text, report::FormulaOf(LiftedOf(testing::Softmax())).text);
  const auto unknown = computes(memory::EncodeLift(core::NotLifted{"branch on data", "line 3", true}));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(report::WhyNoFormula(*unknown), "What it computes was not found out: branch on data: line 3");
  core::Lifted invalid = LiftedOf(testing::Softmax());
  invalid.computation.stages[0].nodes.clear();
  EXPECT_FALSE(computes(memory::EncodeLift(invalid)));
  EXPECT_FALSE(computes("{"));
  EXPECT_FALSE(report::Explain({}, {}).computes);
}

}  // namespace
}  // namespace warpwright
