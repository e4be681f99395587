// The bounds of errors hold for float evaluations, and are not so wide that they say nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/real_function.h"
#include "tests/unit/computation/reference_loops.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions

using core::ErrorModel;

TEST(ErrorBounds, HoldForFloatLoops) {
  for (const Sample& sample : testing::Samples()) {
    for (const bool probable : {false, true}) {
      SCOPED_TRACE(sample.name + (probable ? ", probable" : ""));
      const auto arguments = testing::RandomArguments(sample, 11);
      const auto result = testing::Evaluated(sample, arguments, {.errors = ErrorModel{.probable = probable}});
      const auto floats = testing::ReferenceLoops<float>(sample, arguments).Run();
      ASSERT_EQ(result.errors.size(), floats.size());
      for (size_t i = 0; i < floats.size(); ++i) {
        if (result.written[i] == 0) continue;
        const double value = core::IsFloat(result.dtype) ? result.real[i] : static_cast<double>(result.integers[i]);
        ASSERT_LE(std::fabs(value - floats[i]), result.errors[i]) << i;
        const double format = result.dtype == core::DType::kF16 ? 0x1p-10 : 0;
        ASSERT_LE(result.errors[i], format * 2 * std::fabs(value) + 1e-4 * (1 + std::fabs(value))) << i;
      }
    }
  }
}

// The interval around the value: whatever the order of the terms, the rounding and the size of the numbers are.
TEST(ErrorBounds, ContainHonestRuns) {
  size_t compared = 0, open = 0;
  for (const Sample& sample : testing::Samples()) {
    for (const double scale : {1e-3, 1.0, 40.0}) {
      SCOPED_TRACE(fmt::format("{} times {}", sample.name, scale));
      auto arguments = testing::RandomArguments(sample, 5);
      for (auto& [name, values] : arguments.real)
        for (double& v : values) v = static_cast<float>(v * scale);
      const auto bound = testing::Evaluated(sample, arguments, {.errors = ErrorModel{}});
      if (!core::IsFloat(bound.dtype)) continue;
      for (uint64_t order = 0; order < 4; ++order) {
        core::EvaluateOptions options;
        options.trial = core::FormatTrial{.random_rounding = order % 2 == 1, .order = order, .seed = order};
        const auto run = testing::Evaluated(sample, arguments, options);
        for (size_t i = 0; i < run.real.size(); ++i) {
          if (run.written[i] == 0) continue;
          ++(std::isfinite(bound.errors[i]) ? compared : open);
          if (!std::isfinite(bound.errors[i])) continue;
          // A run that rounds to either neighbour errs by a whole unit where the bound has half of one.
          const double allowed = bound.errors[i] * (options.trial->random_rounding ? 2 : 1);
          ASSERT_LE(std::fabs(run.real[i] - bound.real[i]), allowed) << i << ", order " << order;
        }
      }
    }
  }
  EXPECT_GT(compared, 5000u);
  EXPECT_LT(open, compared / 10);
}

// Long sums are taken in parts; the bound of every order also holds for one term after another.
TEST(ErrorBounds, OfLongSumsInParts) {
  testing::StageBuilder out("out", {"1"});
  out.Output().Reduce(core::ReduceOp::kSum, {{1, "N"}}, out.Read("x", {V(1)}));
  core::Computation form{.tensors = {testing::Input("x", {"N"}), testing::Output("out", {"1"})}};
  form.stages = {out.stage};
  form = testing::Finished(std::move(form));
  constexpr int64_t kTerms = 3 * core::kLongestChain + 1;
  const std::vector<double> ones(kTerms, 1.0);
  const auto error = [&](bool chained, int64_t terms) {
    const auto evaluator =
        core::ComputationEvaluator::Compile(form, {{"N", terms}}, {.errors = ErrorModel{.chained = chained}});
    const auto result = evaluator->Run({{}, {{"x", {std::span(ones).first(static_cast<size_t>(terms)), {}}}}});
    return (*result)[0].errors[0] / (static_cast<double>(terms) * 0x1p-24);
  };
  EXPECT_EQ(error(true, 1000), 999);
  EXPECT_EQ(error(true, core::kLongestChain), core::kLongestChain - 1);
  EXPECT_EQ(error(false, kTerms), kTerms - 1);
  EXPECT_EQ(error(true, kTerms), core::kLongestChain - 1 + 3);
}

// A result that is kept in 16 bits rounds once; the sum that it is a term of does not round to them with every term.
TEST(ErrorBounds, OfResultsThatAreKept) {
  testing::StageBuilder sum("t0", {}), root("out", {"1"});
  sum.Reduce(core::ReduceOp::kSum, {{0, "N"}}, sum.Read("x", {V(0)}));
  root.Output().Apply(core::Function::kSqrt, {root.ReadStage("t0", {})});
  core::Computation form{.tensors = {testing::Input("x", {"N"}), testing::Output("out", {"1"})}};
  form.stages = {sum.stage, root.stage};
  form = testing::Finished(std::move(form));
  const std::vector<double> values(1024, 1.0);
  const auto error = [&](ErrorModel model) {
    const auto evaluator = core::ComputationEvaluator::Compile(form, {{"N", 1024}}, {.errors = model});
    return (*evaluator->Run({{}, {{"x", {values, {}}}}}))[0].errors[0] / 32;
  };
  EXPECT_LT(error({}), 0x1p-14);
  EXPECT_NEAR(error({.stores = core::DType::kF16}), 0x1p-12 + 0x1p-11, 0x1p-13);
  EXPECT_GT(error({.accumulation = core::DType::kF16}), 0.2);
}

// Sums that cancel: their bound is that of the terms, not of the result.
TEST(ErrorBounds, HeedCancellation) {
  Sample sample = testing::SampleNamed("cumulative sum");
  sample.sizes = {{"N", 1}, {"C", 2}};
  testing::SampleArguments arguments = testing::RandomArguments(sample, 1);
  arguments.real["x"] = {1e6, -1e6 + 0.125};
  arguments.values.tensors["x"].real = arguments.real["x"];
  const auto result = testing::Evaluated(sample, arguments, {.errors = ErrorModel{}});
  EXPECT_EQ(result.errors[0], 0);
  EXPECT_NEAR(result.errors[1], 2e6 * 0x1p-24, 1e-6);
}

// An unshifted softmax overflows in f32, a shifted one does not.
TEST(ErrorBounds, SeeOverflow) {
  testing::StageBuilder out("out", {"N"});
  const auto sum =
      out.Reduce(core::ReduceOp::kSum, {{1, "N"}}, out.Apply(core::Function::kExp, {out.Read("x", {testing::V(1)})}));
  out.Output().Divide({out.Apply(core::Function::kExp, {out.Read("x", {testing::V(0)})}), sum});
  Sample sample{.name = "unshifted", .sizes = {{"N", 2}}};
  sample.computation = testing::Finished(
      {.tensors = {testing::Input("x", {"N"}), testing::Output("out", {"N"})}, .stages = {out.stage}});
  testing::SampleArguments arguments = testing::RandomArguments(sample, 1);
  for (const double large : {50.0, 100.0}) {
    arguments.real["x"] = {large, 0};
    arguments.values.tensors["x"].real = arguments.real["x"];
    const auto result = testing::Evaluated(sample, arguments, {.errors = ErrorModel{}});
    EXPECT_EQ(std::isinf(result.errors[0]), large == 100);
    EXPECT_NEAR(result.real[0], 1, 1e-12);
  }
}

TEST(ErrorBounds, UncertainComparisonsAndIndices) {
  // Whether x * x < 2 is certain only away from the threshold.
  testing::StageBuilder out("out", {"3"});
  const auto x = out.Read("x", {testing::V(0)});
  const auto less = out.Compare(core::Comparison::kLess, {out.Product({x, x, x}), out.Number(2)});
  out.Output().Select({less, out.Number(5), out.Number(-3)});
  Sample sample{.name = "threshold"};
  sample.computation = {.tensors = {testing::Input("x", {"3"}), testing::Output("out", {"3"})}, .stages = {out.stage}};
  testing::SampleArguments arguments = testing::RandomArguments(sample, 1);
  arguments.real["x"] = {1, 1.2599210498948732, 2};
  arguments.values.tensors["x"].real = arguments.real["x"];
  auto result = testing::Evaluated(sample, arguments, {.errors = ErrorModel{}});
  EXPECT_EQ(result.errors, (base::UninitializedVector<double>{0, 8, 0}));

  sample = testing::SampleNamed("argmax");
  sample.sizes = {{"N", 1}, {"C", 3}};
  auto& read = sample.computation.stages[0].nodes;
  read.insert(read.begin() + 1, core::Call{core::Function::kExp, {0}});
  std::get<core::Reduce>(read[2]).body = 1;
  arguments = testing::RandomArguments(sample, 1);
  for (const double gap : {1e-9, 1e-3}) {
    arguments.real["x"] = {0.5, 1, 1 - gap};
    arguments.values.tensors["x"].real = arguments.real["x"];
    result = testing::Evaluated(sample, arguments, {.errors = ErrorModel{}});
    EXPECT_EQ(result.integers[0], 1);
    EXPECT_EQ(result.errors[0], gap < 1e-6 ? INFINITY : 0);
  }
}

TEST(ErrorBounds, GrowWithTheFormat) {
  const Sample& sample = testing::SampleNamed("matmul with bias");
  const auto arguments = testing::RandomArguments(sample, 5);
  const auto error = [&](core::DType accumulation) {
    return testing::Evaluated(sample, arguments, {.errors = ErrorModel{.accumulation = accumulation}}).errors.at(0);
  };
  // Half the epsilon, for f64 plus the rounding of the output to f32.
  EXPECT_NEAR(error(core::DType::kF16) / error(core::DType::kF32), 0x1p13, 0x1p13 * 0.1);
  EXPECT_LT(error(core::DType::kF64), error(core::DType::kF32));
}

// The spread of every function, against evaluations all over its interval.
TEST(ErrorBounds, SpreadsContainTheFunction) {
  for (int f = 0; f < static_cast<int>(core::Function::kFirstInteger); ++f) {
    const auto function = static_cast<core::Function>(f);
    for (const double x : {-3.7, -1.2, -0.6, -0.05, 0.0, 0.3, 0.95, 1.4, 2.5, 9.0}) {
      for (const double error : {0.0, 1e-6, 0.02, 0.4}) {
        const bool first_order = function == core::Function::kLgamma || function == core::Function::kTgamma;
        if (first_order && error > 1e-3) continue;
        const bool two = core::Arity(function) == 2;
        const double spread = two ? core::Spread(function, x, 1.3, error, error / 2) : core::Spread(function, x, error);
        const double middle = core::Apply(function, x, 1.3);
        for (int step = -20; step <= 20; ++step) {
          const double at = x + error * step / 20;
          for (const double y : {1.3 - error / 2, 1.3, 1.3 + error / 2}) {
            const double value = core::Apply(function, at, two ? y : 1.3);
            if (std::isnan(value) || std::isnan(middle)) continue;
            if (value == middle) continue;
            ASSERT_LE(std::fabs(value - middle), spread * (1 + 1e-6) + 1e-15 * std::fabs(middle))
                << core::Name(function) << " at " << x << " within " << error;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpwright
