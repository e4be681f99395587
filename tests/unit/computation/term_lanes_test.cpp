// Reductions whose terms are in lanes (core/term_program.h), against the same of so many elements that those are.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/random.h"
#include "core/computation_evaluate.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions

using core::ReduceOp;

constexpr int64_t kFew = 3, kMany = 1100, kTerms = 700;

struct Row {
  const char* name;
  ReduceOp op;
  // The body; the reductions' variables are 1 and 2.
  std::function<StageBuilder::Id(StageBuilder&)> body;
  std::vector<core::Guard> guards = {};
  bool two_variables = false;
};

core::Computation FormOf(const Row& row) {
  StageBuilder out("out", {"M"});
  std::vector<StageBuilder::Range> ranges = {{1, "N"}};
  if (row.two_variables) ranges = {{1, "N / 7"}, {2, "7"}};
  std::optional<core::Affine> index;
  if (row.op >= ReduceOp::kArgMaxFirst) index = row.two_variables ? V(2) * "100" - V(1) : V(1) * "3";
  const auto body = row.body(out);
  const auto reduced = out.Reduce(row.op, ranges, body, row.guards, index);
  out.Sum({reduced, out.Index(V(0))});
  out.Output();
  core::Computation form{.tensors = {Input("x", {"N"}), Input("k", {"N"}, core::DType::kI32), Output("out", {"M"})}};
  form.stages = {out.stage};
  return Finished(std::move(form));
}

std::vector<Row> Rows() {
  const auto x = [](StageBuilder& b) { return b.Read("x", {V(1)}); };
  const auto scaled = [](StageBuilder& b) {  // by what the root knows, and what does not depend on the term
    const auto i = b.Sum({b.Index(V(0)), b.Number(1.1)});
    return b.Product({b.Read("x", {V(1)}), i, b.Apply(core::Function::kExp, {b.Number(0.1)})});
  };
  const auto matrix = [](StageBuilder& b) { return b.Read("x", {V(1) * "7" + V(2)}); };
  const auto near_one = [](StageBuilder& b) {
    return b.Sum({b.Number(1), b.Product({b.Number(0.001), b.Read("x", {V(1)})})});
  };
  const auto few_values = [](StageBuilder& b) {
    return b.Apply(core::Function::kFloor, {b.Product({b.Number(2), b.Read("x", {V(1)})})});
  };
  const auto whole = [](StageBuilder& b) { return b.Read("k", {V(1)}); };
  const auto gathered = [](StageBuilder& b) { return b.Read("x", {b.Read("k", {V(1)})}); };
  const auto nested = [](StageBuilder& b) {
    const auto inner = b.Reduce(ReduceOp::kSum, {{2, "3"}}, b.Product({b.Read("x", {V(2)}), b.Index(V(1))}));
    return b.Sum({inner, b.Index(V(0))});
  };
  return {{"sum", ReduceOp::kSum, x},
          {"sum of products", ReduceOp::kSum, scaled},
          {"sum over two variables", ReduceOp::kSum, matrix, {}, true},
          {"sum of some", ReduceOp::kSum, x, {Within(V(1) - V(0) * "5", "0", "333")}},
          {"sum of those that divide", ReduceOp::kSum, x, {Within((V(1) + V(0)) / "3", "", "")}},
          {"sum of nothing", ReduceOp::kSum, x, {Within(V(0), "10000", "")}},
          {"sum of one value", ReduceOp::kSum, [](StageBuilder& b) { return b.Index(V(0)); }},
          {"nested", ReduceOp::kSum, nested},
          {"gathered", ReduceOp::kSum, gathered},
          {"integers", ReduceOp::kSum, whole},
          {"product", ReduceOp::kProduct, near_one},
          {"maximum", ReduceOp::kMax, scaled},
          {"minimum of integers", ReduceOp::kMin, whole},
          {"first maximum", ReduceOp::kArgMaxFirst, few_values},
          {"last maximum", ReduceOp::kArgMaxLast, few_values},
          {"first minimum", ReduceOp::kArgMinFirst, few_values},
          {"last minimum of integers", ReduceOp::kArgMinLast, whole},
          {"last maximum over two variables",
           ReduceOp::kArgMaxLast,
           [](StageBuilder& b) { return b.Apply(core::Function::kRint, {b.Read("x", {V(1) * "7" + V(2)})}); },
           {},
           true}};
}

class TermLanes : public ::testing::Test {
 protected:
  TermLanes() {
    const base::CounterRandom random(5, 9);
    for (uint64_t i = 0; i < kTerms; ++i) {
      x_.push_back(static_cast<float>(2 * random.Uniform(i) - 1));
      k_.push_back(static_cast<int64_t>(random.Below(i + 1000, kTerms)));
    }
  }
  Result<core::TensorResult> Run(const core::Computation& form, int64_t elements, const core::EvaluateOptions& options,
                                 int64_t terms = kTerms) {
    const core::SizeValues sizes = {{"M", elements}, {"N", terms}};
    WW_ASSIGN(const auto evaluator, core::ComputationEvaluator::Compile(form, sizes, options));
    WW_ASSIGN(auto results, evaluator.Run({{}, {{"x", {x_, {}}}, {"k", {{}, k_}}}}));
    return std::move(results.at(0));
  }
  std::vector<double> x_;
  std::vector<int64_t> k_;
};

TEST_F(TermLanes, AgreeWithLanesOfElements) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    const core::Computation form = FormOf(row);
    for (const bool single : {false, true}) {
      const core::EvaluateOptions options = {.errors = core::ErrorModel{.single = single}};
      const auto few = Run(form, kFew, options), many = Run(form, kMany, options);
      ASSERT_TRUE(few && many) << (few ? many : few).error().message;
      for (size_t i = 0; i < kFew; ++i) {
        EXPECT_NEAR(few->real[i], many->real[i], 1e-12 * (1 + std::fabs(many->real[i]))) << i;
        EXPECT_TRUE(few->errors[i] == many->errors[i] ||  // infinities
                    std::fabs(few->errors[i] - many->errors[i]) <= 1e-9 * many->errors[i])
            << i << ": " << few->errors[i] << " and " << many->errors[i];
      }
    }
  }
}

// Runs in f32 take term after term: to nearest and in their order, bit for bit the same.
TEST_F(TermLanes, RoundAsLanesOfElementsDo) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    const core::Computation form = FormOf(row);
    const auto few = Run(form, kFew, {.trial = core::FormatTrial{}}),
               many = Run(form, kMany, {.trial = core::FormatTrial{}});
    ASSERT_TRUE(few && many);
    for (size_t i = 0; i < kFew; ++i) EXPECT_EQ(few->real[i], many->real[i]) << i;
    const auto truth = Run(form, kFew, {.errors = core::ErrorModel{}});
    for (const core::FormatTrial trial : {core::FormatTrial{true, 0, 1}, core::FormatTrial{true, 3, 2}}) {
      const auto drawn = Run(form, kFew, {.trial = trial}), again = Run(form, kFew, {.trial = trial});
      for (size_t i = 0; i < kFew; ++i) {
        EXPECT_EQ(drawn->real[i], again->real[i]);
        if (truth->errors[i] == 0 || row.op >= ReduceOp::kArgMaxFirst) continue;
        EXPECT_LE(std::fabs(drawn->real[i] - truth->real[i]), 2 * truth->errors[i]);
      }
    }
  }
}

// Parts of more terms than one thread takes together.
TEST_F(TermLanes, PartsOfLongReductions) {
  constexpr int64_t kLong = 150'001;
  x_.assign(kLong, 0.25);
  k_.assign(kLong, 1);
  x_[70'000] = x_[140'000] = 3;
  x_[149'999] = -2;
  const struct {
    ReduceOp op;
    double value;
  } rows[] = {{ReduceOp::kSum, 0.25 * (kLong - 3) + 4},
              {ReduceOp::kMax, 3},
              {ReduceOp::kMin, -2},
              {ReduceOp::kArgMaxFirst, 3 * 70'000},
              {ReduceOp::kArgMaxLast, 3 * 140'000},
              {ReduceOp::kArgMinLast, 3 * 149'999}};
  for (const auto& row : rows) {
    const auto result = Run(FormOf({"", row.op, [](StageBuilder& b) { return b.Read("x", {V(1)}); }}), 1,
                            {.errors = core::ErrorModel{}}, kLong);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->real[0], row.value);
    const double magnitudes = 0.25 * (kLong - 3) + 8;
    const double bound = row.op == ReduceOp::kSum ? (kLong - 1) * 0x1p-24 * magnitudes : 0;
    const bool whole = row.op >= ReduceOp::kArgMaxFirst;
    const double added = whole ? 0 : bound + 0x1p-24 * (std::fabs(row.value) + bound);  // to an index
    EXPECT_NEAR(result->errors[0], added, 1e-9 * added);
  }
}

}  // namespace
}  // namespace warpwright
