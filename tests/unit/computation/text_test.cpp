#include "core/computation_text.h"

#include <gtest/gtest.h>

#include "core/computation_inline.h"
#include "core/computation_json.h"
#include "core/computation_latex.h"
#include "tests/support/golden.h"
#include "tests/unit/computation/sample_arguments.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions
using core::Comparison;
using core::Function;
using core::ReduceOp;

TEST(Text, OfTheSamples) {
  std::string text;
  for (const auto& sample : Samples())
    text += "== " + sample.name + "\n" + core::ComputationText(sample.computation) + "-- in fewer lines\n" +
            core::ComputationText(core::Inlined(sample.computation)) + "-- in one line\n" +
            core::Headline(sample.computation) + "\n\n";
  ExpectGolden("computations.txt", text);
}

TEST(Latex, OfTheSamples) {
  std::string text;
  for (const auto& sample : Samples())
    text += "### " + sample.name + "\n```math\n" + core::ComputationLatex(sample.computation) + "```\n\n";
  ExpectGolden("computations.md", text);
}

struct ExpressionRow {
  const char* text;
  std::function<void(StageBuilder&)> build;
  const char* latex;
};
TEST(Text, OfExpressions) {
  const auto x = [](StageBuilder& b) { return b.Read("x", {V(0)}); };
  const auto y = [](StageBuilder& b) { return b.Scalar("y"); };
  const ExpressionRow rows[] = {
      {"x[i0] - y", [&](auto& b) { b.Subtract({x(b), y(b)}); }, "x_{i_0} - y"},
      {"x[i0] - y", [&](auto& b) { b.Sum({b.Minus(y(b)), x(b)}); }, "x_{i_0} - y"},
      {"-x[i0] - y", [&](auto& b) { b.Sum({b.Minus(x(b)), b.Minus(y(b))}); }, "-x_{i_0} - y"},
      {"-(x[i0] + y)", [&](auto& b) { b.Minus(b.Sum({x(b), y(b)})); }, "-\\left(x_{i_0} + y\\right)"},
      {"y - (x[i0] - y)", [&](auto& b) { b.Subtract({y(b), b.Subtract({x(b), y(b)})}); },
       "y - \\left(x_{i_0} - y\\right)"},
      {"x[i0] * (x[i0] + y)", [&](auto& b) { b.Product({x(b), b.Sum({x(b), y(b)})}); },
       "x_{i_0} \\cdot \\left(x_{i_0} + y\\right)"},
      {"-2 * x[i0]", [&](auto& b) { b.Product({b.Number(-2), x(b)}); }, "-2 \\cdot x_{i_0}"},
      {"x[i0]^2 / (y * x[i0])",
       [&](auto& b) {
         b.Product({x(b), x(b), b.Apply(Function::kReciprocal, {y(b)}), b.Apply(Function::kReciprocal, {x(b)})});
       },
       "\\frac{x_{i_0}^{2}}{y \\cdot x_{i_0}}"},
      {"1 / (x[i0] + y)", [&](auto& b) { b.Apply(Function::kReciprocal, {b.Sum({x(b), y(b)})}); },
       "\\frac{1}{x_{i_0} + y}"},
      {"x[i0] / (x[i0] / y)", [&](auto& b) { b.Divide({x(b), b.Divide({x(b), y(b)})}); },
       "\\frac{x_{i_0}}{\\frac{x_{i_0}}{y}}"},
      {"(x[i0] + y)^2",
       [&](auto& b) {
         const auto s = b.Sum({x(b), y(b)});
         b.Product({s, s});
       },
       "\\left(x_{i_0} + y\\right)^{2}"},
      {"(sum_{r0<4} x[r0]) / N",
       [&](auto& b) { b.Divide({b.Reduce(ReduceOp::kSum, {{1, "4"}}, b.Read("x", {V(1)})), b.OfSize("N")}); },
       "\\frac{\\sum_{r_0 \\lt 4} x_{r_0}}{N}"},
      {"sum_{r0<4} x[r0] * y + y",
       [&](auto& b) { b.Sum({b.Reduce(ReduceOp::kSum, {{1, "4"}}, b.Product({b.Read("x", {V(1)}), y(b)})), y(b)}); },
       "\\sum_{r_0 \\lt 4} x_{r_0} \\cdot y + y"},
      {"sum_{r0<4} (x[r0] + y)",
       [&](auto& b) { b.Reduce(ReduceOp::kSum, {{1, "4"}}, b.Sum({b.Read("x", {V(1)}), y(b)})); },
       "\\sum_{r_0 \\lt 4} \\left(x_{r_0} + y\\right)"},
      {"max_{r0<4} -x[r0]", [&](auto& b) { b.Reduce(ReduceOp::kMax, {{1, "4"}}, b.Minus(b.Read("x", {V(1)}))); },
       "\\max_{r_0 \\lt 4} -x_{r_0}"},
      {"argmin_last_{r0<4}[2*r0+1] x[r0]",
       [&](auto& b) { b.Reduce(ReduceOp::kArgMinLast, {{1, "4"}}, b.Read("x", {V(1)}), {}, V(1) * "2" + At("1")); },
       "\\mathop{\\mathrm{argmin\\ (last)}}_{r_0 \\lt 4}^{2 r_0+1} x_{r_0}"},
      {"x[i0] < y ? -x[i0] : x[i0] == y ? 0 : y",
       [&](auto& b) {
         const auto less = b.Compare(Comparison::kLess, {x(b), y(b)});
         const auto minus = b.Minus(x(b));
         const auto equal = b.Compare(Comparison::kEqual, {x(b), y(b)});
         const auto inner = b.Select({equal, b.Number(0), y(b)});
         b.Select({less, minus, inner});
       },
       "\\begin{cases} -x_{i_0} & \\text{if } x_{i_0} \\lt y \\\\ \\begin{cases} 0 & \\text{if } x_{i_0} = y \\\\ y & "
       "\\text{else} \\end{cases} & \\text{else} \\end{cases}"},
      {"not (x[i0] <= y and y != 1)",
       [&](auto& b) {
         const auto a = b.Compare(Comparison::kLessEqual, {x(b), y(b)});
         const auto c = b.Compare(Comparison::kNotEqual, {y(b), b.Number(1)});
         b.Add(core::Logic{core::Logic::Op::kNot, {b.Add(core::Logic{core::Logic::Op::kAnd, {a, c}})}});
       },
       "\\lnot \\left(x_{i_0} \\le y \\land y \\ne 1\\right)"},
      {"max(x[i0], -1e-5)", [&](auto& b) { b.Max({x(b), b.Number(-1e-5)}); },
       "\\max\\left(x_{i_0},\\, -10^{-5}\\right)"},
      {"f16(0.1 * x[i0])", [&](auto& b) { b.Convert(core::DType::kF16, b.Product({b.Number(0.1f), x(b)})); },
       "\\mathrm{f16}\\left(0.1 \\cdot x_{i_0}\\right)"},
      {"pow(rsqrt(x[i0]), y)", [&](auto& b) { b.Apply(Function::kPower, {b.Apply(Function::kRsqrt, {x(b)}), y(b)}); },
       "{\\left(\\frac{1}{\\sqrt{x_{i_0}}}\\right)}^{y}"},
      {"inf", [&](auto& b) { b.Number(INFINITY); }, "\\infty"},
      {"2*i0-N+1", [&](auto& b) { b.Index(V(0) * "2" - At("N") + At("1")); }, "2 i_0-N+1"},
      {"(N+1)*i0", [&](auto& b) { b.Index(V(0) * "N+1"); }, "\\left(N+1\\right) i_0"},
      {"(i0+1)/2", [&](auto& b) { b.Index((V(0) + At("1")) / "2"); }, "\\left(i_0+1\\right) / 2"},
      {"3*(i0/4)+i0%4", [&](auto& b) { b.Index(Quotient(0, "4") * "3" + Remainder(0, "4")); }, nullptr},
  };
  for (const auto& row : rows) {
    StageBuilder out("out", {"4"});
    row.build(out.Output());
    const core::Computation computation{
        .tensors = {Input("x", {"4"}), Output("out", {"4"})}, .sizes = {"N"}, .scalars = {"y"}, .stages = {out.stage}};
    EXPECT_EQ(core::StageText(computation, out.stage), "out[i0] = " + std::string(row.text) + "  for i0<4");
    const std::string latex = core::ComputationLatex(computation);
    if (row.latex != nullptr) {
      EXPECT_EQ(latex, "\\begin{aligned}\n\\mathrm{out}_{i_0} &= " + std::string(row.latex) +
                           " && i_0 \\lt 4\n\\end{aligned}\n");
    }
  }
}

TEST(Text, OfGuards) {
  const struct {
    core::Guard guard;
    const char* text;
  } rows[] = {{Within(V(0) - V(1), "0", ""), "i1 <= i0"},
              {Within(V(1) - V(0), "1", ""), "i0 < i1"},
              {Within(V(0) + V(1) - At("1"), "0", "H"), "0 <= i0+i1-1 < H"},
              {Within(V(0) - At("2"), "", "H"), "i0 < H+2"},
              {Within(V(0), "-1", ""), "0 <= i0+1"},
              {Within(V(0) - At("3"), "0", ""), "3 <= i0"},
              {Within((V(0) + At("1")) / "2", "0", "H"), "(i0+1) % 2 == 0, 0 <= (i0+1)/2 < H"},
              {Within((V(0)) / "2", "", ""), "i0 % 2 == 0"},
              {Within(V(0), "", ""), ""}};
  for (const auto& row : rows) {
    StageBuilder out("out", {"4", "5"});
    out.Output().stage.domain = {row.guard};
    out.Number(1);
    const core::Computation computation{.tensors = {Output("out", {"4", "5"})}, .sizes = {"H"}, .stages = {out.stage}};
    const std::string conditions = *row.text == '\0' ? "" : std::string(" where ") + row.text;
    EXPECT_EQ(core::StageText(computation, out.stage), "out[i0,i1] = 1  for i0<4, i1<5" + conditions);
  }
}

// What is computed stays the same; in samples that have something to inline it gets shorter.
TEST(Inlined, ComputesTheSame) {
  std::set<std::string> shorter;
  for (const auto& sample : Samples()) {
    Sample inlined = sample;
    inlined.computation = core::Inlined(sample.computation);
    const auto status = core::Validate(inlined.computation);
    ASSERT_TRUE(status) << sample.name << ": " << status.error().message;
    if (inlined.computation.stages.size() < sample.computation.stages.size()) shorter.insert(sample.name);
    const auto arguments = RandomArguments(sample, 9);
    const auto before = Evaluated(sample, arguments), after = Evaluated(inlined, arguments);
    EXPECT_EQ(before.written, after.written);
    EXPECT_EQ(before.integers, after.integers);
    for (size_t i = 0; i < before.real.size(); ++i) ASSERT_NEAR(before.real[i], after.real[i], 1e-13) << sample.name;
  }
  EXPECT_EQ(shorter, (std::set<std::string>{"matmul with bias", "softmax", "layer norm", "group norm", "causal softmax",
                                            "attention"}));
}

TEST(Inlined, HasALimit) {
  EXPECT_EQ(core::Inlined(MatmulWithBias(), 3).stages.size(), 2u);
  // A stage that is read at a gathered position stays.
  core::Computation embedding = Embedding();
  StageBuilder twice("t0", {"V", "D"});
  twice.Product({twice.Number(2), twice.Read("table", {V(0), V(1)})});
  embedding.stages.insert(embedding.stages.begin(), twice.stage);
  auto& read = std::get<core::TensorRead>(embedding.stages[1].nodes.back());
  read.tensor = "t0", read.stage = true;
  ASSERT_TRUE(core::Validate(embedding));
  EXPECT_EQ(core::Inlined(embedding), embedding);
}

TEST(Text, OfSharedNodesStaysShort) {
  StageBuilder out("out", {"4"});
  auto sum = out.Read("x", {V(0)});
  for (int i = 0; i < 1000; ++i) sum = out.Apply(Function::kHypot, {sum, sum});
  const core::Computation computation{.tensors = {Input("x", {"4"}), Output("out", {"4"})},
                                      .stages = {out.Output().stage}};
  EXPECT_LT(core::ComputationText(computation).size(), 3000u);
  EXPECT_LT(core::ComputationLatex(computation).size(), 4000u);
  EXPECT_LE(core::Headline(computation).size(), 160u);
}

TEST(Latex, EscapesNames) {
  StageBuilder out("out_$x#1", {"N_max"});
  out.Output().Read("a^b\\c`{}", {V(0)});
  const core::Computation computation =
      Finished({.tensors = {Input("a^b\\c`{}", {"N_max"}), Output("out_$x#1", {"N_max"})}, .stages = {out.stage}});
  ASSERT_TRUE(core::Validate(computation));
  EXPECT_EQ(core::ComputationLatex(computation),
            "\\begin{aligned}\n\\mathrm{out\\_\\$x\\#1}_{i_0} &= \\mathrm{a\\_b\\_c\\_\\{\\}}_{i_0} && i_0 \\lt "
            "\\mathrm{N\\_max}\n\\end{aligned}\n");
}

TEST(Json, ComesBack) {
  for (const auto& sample : Samples()) {
    core::Computation computation = sample.computation;
    computation.assumptions = {"for inputs without NaN"};
    computation.stages[0].line = 12;
    const std::string text = core::EncodeComputation(computation);
    const auto back = core::DecodeComputation(text);
    ASSERT_TRUE(back) << sample.name << ": " << back.error().message;
    EXPECT_EQ(*back, computation) << sample.name;
    EXPECT_EQ(core::EncodeComputation(*back), text);
  }
}

// The fuzzer starts from all samples.
TEST(Json, IsTheCorpus) {
  for (const auto& sample : Samples()) {
    std::string name = sample.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    ExpectGolden("../fuzz/corpus/computation/" + name, core::EncodeComputation(sample.computation));
  }
}

TEST(Json, IsCheckedWhenItIsRead) {
  std::string text = core::EncodeComputation(Softmax());
  EXPECT_TRUE(core::DecodeComputation(text));
  const struct {
    const char *from, *to, *message;
  } rows[] = {{"\"op\":\"max\"", "\"op\":\"most\"", "stages[0].nodes[1].op: unknown 'most'"},
              {"\"node\":\"read\"", "\"node\":\"write\"", "stages[0].nodes[0].node: unknown 'write'"},
              {"\"body\":0", "\"body\":-1", "stages[0].nodes[1].body: an integer out of range"},
              {"\"body\":0", "\"body\":7", "stage 't0': node 1: an argument that does not precede it"},
              {"\"extent\":\"C\"", "\"extent\":\"C+\"", "expected a value"},
              {"\"extent\":\"C\"", "\"extent\":\"Q\"", "the size 'Q' is not an argument"},
              {"\"at\":[{", "\"at\":[true,{", "at[0]: not an object"},
              {"\"name\":\"t0\"", "\"names\":\"t0\"", "'name' is missing"}};
  for (const auto& row : rows) {
    std::string bad = text;
    const size_t at = bad.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    const auto decoded = core::DecodeComputation(bad.replace(at, std::string_view(row.from).size(), row.to));
    ASSERT_FALSE(decoded) << row.to;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(decoded.error().message.find(row.message), std::string::npos) << decoded.error().message;
  }
  // NOLINTNEXTLINE(bugprone-string-constructor): longer than any real one
  EXPECT_FALSE(core::DecodeComputation(std::string(20'000'000, ' ')));
}

}  // namespace
}  // namespace warpwright
