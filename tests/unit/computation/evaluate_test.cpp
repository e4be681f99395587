#include "core/computation_evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/computation/reference_loops.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions

using core::ComputationEvaluator;
using core::DType;
using core::Function;
using core::ReduceOp;

std::vector<double> AsReal(const core::TensorResult& result) {
  return core::IsFloat(result.dtype) ? std::vector<double>(result.real.begin(), result.real.end())
                                     : std::vector<double>(result.integers.begin(), result.integers.end());
}

TEST(Evaluate, AgreesWithLoops) {
  for (const Sample& sample : testing::Samples()) {
    SCOPED_TRACE(sample.name);
    const auto arguments = testing::RandomArguments(sample, 7);
    const auto result = testing::Evaluated(sample, arguments);
    const auto values = AsReal(result);
    const auto expected = testing::ReferenceLoops<double>(sample, arguments).Run();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(result.written[i] != 0, !std::isnan(expected[i])) << i;
      if (result.written[i] == 0) continue;
      ASSERT_NEAR(values[i], expected[i], 1e-12 * (1 + std::fabs(expected[i]))) << i;
    }
  }
}

// More elements than lanes, not a multiple of them; and a lane variable that is not the last.
TEST(Evaluate, GroupsOfLanes) {
  Sample sample = testing::SampleNamed("softmax");
  for (const auto& [n, c] : {std::pair<int64_t, int64_t>{3, 200}, {200, 3}, {64, 65}, {1, 1}}) {
    sample.sizes = {{"N", n}, {"C", c}};
    const auto arguments = testing::RandomArguments(sample, 3);
    const auto result = testing::Evaluated(sample, arguments);
    const auto expected = testing::ReferenceLoops<double>(sample, arguments).Run();
    ASSERT_EQ(result.real.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(result.real[i], expected[i], 1e-13);
  }
}

core::Computation OneStage(StageBuilder out, std::vector<core::TensorArgument> tensors) {
  core::Computation computation{.tensors = std::move(tensors)};
  computation.stages.push_back(std::move(out.stage));
  computation = testing::Finished(std::move(computation));
  const auto status = core::Validate(computation);
  EXPECT_TRUE(status) << status.error().message;
  return computation;
}
// Of a stage without inputs, over i0 < 4.
std::vector<double> ValuesOf(StageBuilder out, DType dtype = DType::kF32) {
  out.Output(dtype);
  const auto computation = OneStage(std::move(out), {Output("out", {"4"}, dtype)});
  const auto evaluator = ComputationEvaluator::Compile(computation, {});
  EXPECT_TRUE(evaluator) << evaluator.error().message;
  const auto results = evaluator->Run({});
  EXPECT_TRUE(results) << results.error().message;
  return results ? AsReal(results->at(0)) : std::vector<double>();
}

TEST(Evaluate, Functions) {
  const struct {
    Function function;
    double x, y, value;
  } rows[] = {{Function::kReciprocal, 4, 0, 0.25},
              {Function::kRsqrt, 4, 0, 0.5},
              {Function::kExp2, 3.5, 0, 11.313708498984761},
              {Function::kExp10, 2.5, 0, 316.22776601683796},
              {Function::kErfinv, 0.5, 0, 0.4769362762044699},
              {Function::kNormcdf, 1.5, 0, 0.9331927987311419},
              {Function::kRound, 2.5, 0, 3},
              {Function::kRint, 2.5, 0, 2},
              {Function::kTrunc, -2.5, 0, -2},
              {Function::kSign, -2.5, 0, -1},
              {Function::kPower, 2.5, 3, 15.625},
              {Function::kFmod, 7.5, 2, 1.5},
              {Function::kHypot, 3.5, 12, 12.5},
              {Function::kCopysign, 2.5, -1, -2.5},
              {Function::kIntegerDivide, -7, 2, -3},
              {Function::kIntegerRemainder, -7, 2, -1},
              {Function::kIntegerDivide, 7, 0, 0},
              {Function::kShiftLeft, 3, 4, 48},
              {Function::kShiftRight, -16, 2, -4},
              {Function::kBitAnd, 12, 10, 8},
              {Function::kBitXor, 12, 10, 6},
              {Function::kBitNot, 0, 0, -1},
              {Function::kPopulationCount, 255, 0, 8},
              {Function::kLeadingZeros, 1, 0, 31}};
  for (const auto& row : rows) {
    StageBuilder out("out", {"4"});
    StageBuilder::Ids args = {out.Number(row.x)};
    if (core::Arity(row.function) == 2) args.push_back(out.Number(row.y));
    out.Apply(row.function, args);
    EXPECT_NEAR(ValuesOf(out).at(0), row.value, 1e-14 * std::fabs(row.value)) << core::Name(row.function);
  }
}

TEST(Evaluate, IntegersAreExact) {
  StageBuilder out("out", {"4"});
  // 2^53 + 1 + i is no double.
  const auto big = out.Apply(Function::kShiftLeft, {out.Number(1), out.Number(53)});
  out.Sum({big, out.Number(1), out.Index(V(0))});
  out.Output(DType::kI64);
  const auto computation = OneStage(std::move(out), {Output("out", {"4"}, DType::kI64)});
  const auto results = ComputationEvaluator::Compile(computation, {})->Run({});
  ASSERT_TRUE(results);
  EXPECT_EQ(results->at(0).integers, (base::UninitializedVector<int64_t>{0x20000000000001, 0x20000000000002,
                                                                         0x20000000000003, 0x20000000000004}));
}

TEST(Evaluate, Conversions) {
  const struct {
    DType to;
    double from, value;
  } rows[] = {{DType::kF16, 1.0 / 3, 0.333251953125},
              {DType::kBF16, 1.0 / 3, 0.333984375},
              {DType::kF16, 70000.5, INFINITY},
              {DType::kI32, -2.75, -2},
              {DType::kI32, 3e9 + 0.5, 2147483647},
              {DType::kU8, -3.5, 0},
              {DType::kU8, 300, 44},
              {DType::kI8, 200, -56},
              {DType::kBool, 0.5, 1}};
  for (const auto& row : rows) {
    StageBuilder out("out", {"4"});
    out.Convert(row.to, out.Number(row.from));
    EXPECT_EQ(ValuesOf(out).at(2), row.value) << core::Name(row.to) << " " << row.from;
  }
}

TEST(Evaluate, RoundingsCanBeLookedThrough) {
  StageBuilder out("out", {"4"});
  out.Convert(DType::kF16, out.Number(1.0 / 3));
  out.Output();
  const auto computation = OneStage(std::move(out), {Output("out", {"4"})});
  const auto results = ComputationEvaluator::Compile(computation, {}, {.rounds = false})->Run({});
  EXPECT_EQ(results->at(0).real.at(0), 1.0 / 3);
}

TEST(Evaluate, ReductionsWithoutTerms) {
  const auto of = [](ReduceOp op) {
    StageBuilder out("out", {"4"});
    out.Reduce(op, {{1, "3"}}, out.Sum({out.Index(V(1)), out.Number(0.5)}), {Within(V(1) - V(0), "1", "")});
    return ValuesOf(out);
  };
  EXPECT_EQ(of(ReduceOp::kSum), (std::vector<double>{4, 2.5, 0, 0}));
  EXPECT_EQ(of(ReduceOp::kProduct), (std::vector<double>{3.75, 2.5, 1, 1}));
  EXPECT_EQ(of(ReduceOp::kMax), (std::vector<double>{2.5, 2.5, -INFINITY, -INFINITY}));
  EXPECT_EQ(of(ReduceOp::kMin), (std::vector<double>{1.5, 2.5, INFINITY, INFINITY}));
}

TEST(Evaluate, TiesOfArgReductions) {
  const auto of = [](ReduceOp op) {
    StageBuilder out("out", {"4"});
    const auto body = out.Apply(Function::kAbs, {out.Sum({out.Index(V(1)), out.Number(-1.5)})});
    out.Reduce(op, {{1, "4"}}, body, {}, V(1) * "10");
    return ValuesOf(out).at(0);
  };
  EXPECT_EQ(of(ReduceOp::kArgMaxFirst), 0);
  EXPECT_EQ(of(ReduceOp::kArgMaxLast), 30);
  EXPECT_EQ(of(ReduceOp::kArgMinFirst), 10);
  EXPECT_EQ(of(ReduceOp::kArgMinLast), 20);
}

// A reduction within a reduction; a node that both bodies share, and one that only depends on the outer variable.
TEST(Evaluate, NestedReductions) {
  StageBuilder out("out", {"4"});
  const auto i = out.Index(V(0)), outer = out.Index(V(1)), inner = out.Index(V(2));
  const auto both = out.Sum({i, outer});
  const auto row = out.Reduce(ReduceOp::kSum, {{2, "3"}}, out.Product({both, inner}));  // 3 (i + r)
  const auto least = out.Reduce(ReduceOp::kMin, {{1, "5"}}, out.Sum({outer, i}), {Within(V(1), "2", "")});
  const auto sum = out.Reduce(ReduceOp::kSum, {{1, "2"}}, out.Sum({row, both}));  // 4 (2 i + 1)
  out.Sum({sum, least});
  EXPECT_EQ(ValuesOf(out), (std::vector<double>{6, 15, 24, 33}));
}

TEST(Evaluate, QuotientsRemaindersAndDivisions) {
  StageBuilder out("out", {"4"});
  const auto parts = out.Index(testing::Quotient(0, "2") * "100" + testing::Remainder(0, "2") * "10");
  const auto halves =
      out.Reduce(ReduceOp::kSum, {{1, "4"}}, out.Index((V(0) + V(1)) / "2"), {Within((V(0) + V(1)) / "2", "", "")});
  out.Sum({parts, halves});
  // i + r even: r = 0, 2 -> 0 + 1; r = 1, 3 -> 1 + 2; ...
  EXPECT_EQ(ValuesOf(out), (std::vector<double>{1, 13, 103, 115}));
}

struct BadForm {
  std::string name;
  std::function<void(StageBuilder&)> build;
  ErrorCode code;
  const char* message;
};
TEST(Evaluate, WhatDoesNotExist) {
  const auto guarded = [](double below) {
    return [below](StageBuilder& b) {
      const auto index = b.Index(V(0) - At("2"));
      const auto enough = b.Compare(core::Comparison::kLess, {b.Number(below), index});
      b.Select({enough, b.Read("x", {V(0) - At("2")}), b.Number(9)});
    };
  };
  const BadForm rows[] = {
      {"outside", [](StageBuilder& b) { b.Read("x", {V(0) + At("1")}); }, ErrorCode::kCorrupt, "what does not exist"},
      {"not selected", guarded(-1), ErrorCode::kIo, ""},
      {"selected", guarded(-3), ErrorCode::kCorrupt, "what does not exist"},
      {"twice", [](StageBuilder& b) { b.stage.at = {V(0) * "0"}, b.Number(1); }, ErrorCode::kCorrupt, "written twice"},
      {"outside its buffer", [](StageBuilder& b) { b.stage.at = {V(0) * "2"}, b.Number(1); }, ErrorCode::kCorrupt,
       "outside 'out'"},
      {"an empty argmax",
       [](StageBuilder& b) { b.Reduce(ReduceOp::kArgMaxFirst, {{1, "0"}}, b.Index(V(1)), {}, V(1)); },
       ErrorCode::kCorrupt, "what does not exist"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    StageBuilder out("out", {"4"});
    row.build(out.Output());
    const auto computation = OneStage(std::move(out), {Output("out", {"4"}), Input("x", {"4"})});
    const std::vector<double> x = {1, 2, 3, 4};
    const auto results = ComputationEvaluator::Compile(computation, {})->Run({{}, {{"x", {x, {}}}}});
    if (row.code == ErrorCode::kIo) {
      ASSERT_TRUE(results) << results.error().message;
      EXPECT_EQ(results->at(0).real, (base::UninitializedVector<double>{9, 9, 1, 2}));
      continue;
    }
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().code, row.code);
    EXPECT_NE(results.error().message.find(row.message), std::string::npos) << results.error().message;
  }
}

// A stage computes only what its domain holds, and reads of the rest are reads of nothing.
TEST(Evaluate, DomainsOfIntermediateStages) {
  for (const bool reads_beyond : {false, true}) {
    StageBuilder half("t0", {"8"}), out("out", {"4"});
    half.stage.domain = {Within(V(0), "", "4")};
    half.Read("x", {V(0)});
    out.Output().ReadStage("t0", {reads_beyond ? V(0) + At("1") : V(0)});
    core::Computation computation{.tensors = {Output("out", {"4"}), Input("x", {"4"})}};
    computation.stages = {half.stage, out.stage};
    const std::vector<double> x = {1, 2, 3, 4};
    const auto results = ComputationEvaluator::Compile(computation, {})->Run({{}, {{"x", {x, {}}}}});
    EXPECT_EQ(results.has_value(), !reads_beyond);
  }
}

// Some elements alone have the values that they have among all, whatever stages they need.
TEST(Evaluate, ChosenElements) {
  for (const Sample& sample : testing::Samples()) {
    SCOPED_TRACE(sample.name);
    const auto arguments = testing::RandomArguments(sample, 7);
    const core::EvaluateOptions options = {.errors = core::ErrorModel{}};
    const auto all = testing::Evaluated(sample, arguments, options);
    std::vector<int64_t> chosen;
    for (size_t i = 0; i < all.written.size(); i += 1 + i % 3) chosen.push_back(static_cast<int64_t>(i));
    const auto evaluator = ComputationEvaluator::Compile(sample.computation, sample.sizes, options);
    const auto some = evaluator->RunAt(arguments.values, {{all.name, chosen}}, evaluator->work());
    ASSERT_TRUE(some) << some.error().message;
    ASSERT_EQ(some->at(0).written.size(), chosen.size());
    for (size_t i = 0; i < chosen.size(); ++i) {
      const auto at = static_cast<size_t>(chosen[i]);
      ASSERT_EQ(some->at(0).written[i], all.written[at]) << at;
      if (core::IsFloat(all.dtype)) ASSERT_EQ(some->at(0).real[i], all.real[at]) << at;
      else ASSERT_EQ(some->at(0).integers[i], all.integers[at]) << at;
      ASSERT_EQ(some->at(0).errors[i], all.errors[at]) << at;
    }
    EXPECT_EQ(evaluator->RunAt(arguments.values, {{all.name, chosen}}, 10).error().code, ErrorCode::kLimit);
    EXPECT_EQ(evaluator->RunAt(arguments.values, {{all.name, {-1}}}, 10).error().code, ErrorCode::kUsage);
  }
}

// A part at the beginning of every row says nothing of places, as a stage that fills its tensor does not.
TEST(Evaluate, ChosenElementsOfParts) {
  StageBuilder low("out", {"3", "2"}), high("out", {"3", "2"});
  low.Output().Read("x", {V(0), V(1)});
  high.stage.at = {V(0), V(1) + At("2")};
  high.Output().Minus(high.Read("x", {V(0), V(1)}));
  core::Computation computation{.tensors = {Output("out", {"3", "4"}), Input("x", {"3", "2"})}};
  computation.stages = {low.stage, high.stage};
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const auto evaluator = ComputationEvaluator::Compile(computation, {});
  const auto some = evaluator->RunAt({{}, {{"x", {x, {}}}}}, {{"out", {0, 4, 5, 6, 11}}}, 1000);
  ASSERT_TRUE(some) << some.error().message;
  const auto& real = some->at(0).real;
  EXPECT_EQ(std::vector<double>(real.begin(), real.end()), (std::vector<double>{1, 3, 4, -3, -6}));
}

// One row of an attention needs its scores and all of the values, not the other rows' scores.
TEST(Evaluate, ChosenElementsTakeTheirWorkAlone) {
  Sample sample = testing::SampleNamed("attention");
  sample.sizes = {{"N", 64}, {"D", 8}};
  const auto arguments = testing::RandomArguments(sample, 3);
  const auto evaluator = ComputationEvaluator::Compile(sample.computation, sample.sizes);
  EXPECT_TRUE(evaluator->RunAt(arguments.values, {{"out", {5, 6}}}, evaluator->work() / 40));
}

// Runs in f32 stay within the bound, in any order and however they round, and are the same each time.
TEST(Evaluate, HonestRunsOfTheFormat) {
  for (const Sample& base_sample : testing::Samples()) {
    SCOPED_TRACE(base_sample.name);
    Sample sample = base_sample;
    if (sample.name == "matmul with bias") sample.sizes = {{"M", 9}, {"N", 30}, {"K", 300}};
    if (sample.name == "softmax") sample.sizes = {{"N", 5}, {"C", 700}};
    const auto arguments = testing::RandomArguments(sample, 7);
    // Random rounding errs by a whole unit, twice a rounding to nearest.
    const auto truth = testing::Evaluated(sample, arguments, {.errors = core::ErrorModel{}});
    for (const core::FormatTrial trial :
         {core::FormatTrial{}, core::FormatTrial{true, 0, 1}, core::FormatTrial{true, 5, 2}}) {
      const auto run = testing::Evaluated(sample, arguments, {.trial = trial});
      EXPECT_EQ(run.real, testing::Evaluated(sample, arguments, {.trial = trial}).real);
      for (size_t i = 0; i < run.real.size(); ++i)
        ASSERT_LE(std::fabs(run.real[i] - truth.real[i]), 2 * truth.errors[i]) << i;
      if (sample.name == "softmax") {
        EXPECT_NE(run.real, truth.real);
      }
    }
  }
}

// What tensor cores cut off: of products whose factors belong to several results, and of no other sums.
TEST(Evaluate, SumsThatAreCutOff) {
  struct Row {
    const char* name;
    std::function<void(testing::StageBuilder&)> term;
    bool cut;
  };
  const auto read = [](testing::StageBuilder& b, const char* tensor, int first, int second) {
    return b.Read(tensor, {V(static_cast<core::VariableId>(first)), V(static_cast<core::VariableId>(second))});
  };
  const Row rows[] = {
      {"a matrix product", [&](auto& b) { b.Product({read(b, "x", 0, 2), read(b, "y", 1, 2)}); }, true},
      {"of converted factors",
       [&](auto& b) { b.Convert(core::DType::kF32, b.Product({read(b, "x", 0, 2), read(b, "y", 1, 2)})); }, true},
      {"weighted by a function",
       [&](auto& b) { b.Product({b.Apply(core::Function::kExp, {read(b, "x", 0, 2)}), read(b, "y", 1, 2)}); }, true},
      {"a dot product of rows", [&](auto& b) { b.Product({read(b, "x", 0, 2), read(b, "y", 0, 2)}); }, false},
      {"a sum of squares",
       [&](auto& b) {
         const auto x = read(b, "x", 0, 2);
         b.Product({x, x});
       },
       false},
      {"a scaled sum", [&](auto& b) { b.Product({read(b, "x", 0, 2), b.OfSize("K")}); }, false},
      {"a sum of functions", [&](auto& b) { b.Apply(core::Function::kExp, {read(b, "x", 0, 2)}); }, false},
      {"a sum", [&](auto& b) { read(b, "x", 0, 2); }, false},
  };
  constexpr int64_t kTerms = 600;
  std::vector<double> values(3 * kTerms);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(1 + 0.37 * std::sin(static_cast<double>(i)));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    testing::StageBuilder out("out", {"3", "3"});
    row.term(out.Output());
    out.Reduce(core::ReduceOp::kSum, {{2, "K"}}, static_cast<core::NodeId>(out.stage.nodes.size() - 1));
    core::Computation form{.tensors = {testing::Input("x", {"3", "K"}), testing::Input("y", {"3", "K"}),
                                       testing::Output("out", {"3", "3"})}};
    form.stages = {out.stage};
    form = testing::Finished(std::move(form));
    const auto run = [&](bool truncates) {
      const auto evaluator = ComputationEvaluator::Compile(form, {{"K", kTerms}},
                                                           {.trial = core::FormatTrial{.truncates_sums = truncates}});
      EXPECT_TRUE(evaluator);
      return (*evaluator->Run({{}, {{"x", {values, {}}}, {"y", {values, {}}}}}))[0].real;
    };
    const auto rounded = run(false), cut = run(true);
    EXPECT_EQ(rounded != cut, row.cut);
    EXPECT_LT(cut[0], rounded[0] * (row.cut ? 1 - 50 * 0x1p-24 : 1 + 0x1p-24));
  }
}

TEST(Evaluate, LimitsAndArguments) {
  const auto softmax = testing::Softmax();
  const core::SizeValues large = {{"N", int64_t{1} << 31}, {"C", int64_t{1} << 31}};
  EXPECT_EQ(ComputationEvaluator::Compile(softmax, large).error().code, ErrorCode::kLimit);
  const core::SizeValues middle = {{"N", 1 << 16}, {"C", 1 << 16}};
  EXPECT_EQ(ComputationEvaluator::Compile(softmax, middle).error().code, ErrorCode::kLimit);
  EXPECT_EQ(ComputationEvaluator::Compile(softmax, {{"N", 3}}).error().code, ErrorCode::kConfig);
  const auto evaluator = ComputationEvaluator::Compile(softmax, {{"N", 3}, {"C", 2}});
  ASSERT_TRUE(evaluator);
  // Steps of each block, and one for the block itself: t0 1 (6 times 1), t1 3 (6 times 3: what depends on the row alone
  // is outside), out 8.
  EXPECT_EQ(evaluator->work(), 3u * (1 + 1) + 6u * (1 + 1) + 3u * (3 + 1) + 6u * (3 + 1) + 6u * (8 + 1));
  EXPECT_EQ(evaluator->Run({}).error().code, ErrorCode::kUsage);
  const std::vector<double> five(5);
  EXPECT_EQ(evaluator->Run({{}, {{"inp", {five, {}}}}}).error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace warpwright
