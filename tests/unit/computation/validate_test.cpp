#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/computation_digest.h"
#include "core/computation_walk.h"
#include "tests/support/computation_samples.h"

namespace warpwright {
namespace {

using namespace testing;  // operators on positions

TEST(Validate, AcceptsTheSamples) {
  for (const auto& sample : testing::Samples()) {
    const auto status = core::Validate(sample.computation);
    EXPECT_TRUE(status) << sample.name << ": " << status.error().message;
  }
}

TEST(Validate, DefaultsAreHarmless) {
  EXPECT_EQ(core::Size().Evaluate({}).value(), 0);
  EXPECT_EQ(core::Size(), core::Size::Constant(0));
  EXPECT_EQ(core::Affine().divisor.Evaluate({}).value(), 1);
  EXPECT_EQ(core::Constant{std::nan("")}, core::Constant{std::nan("")});
  EXPECT_NE(core::Constant{0.0}, core::Constant{-0.0});
}

struct BadRow {
  const char* message;
  std::function<void(core::Computation&)> spoil;
};

TEST(Validate, SaysWhatIsWrong) {
  using core::Computation;
  const auto stage = [](auto change) { return [change](Computation& c) { change(c.stages[1]); }; };
  const auto reduce = [](auto change) {
    return [change](Computation& c) { change(std::get<core::Reduce>(c.stages[1].nodes.back())); };
  };
  const BadRow rows[] = {
      {"no stages", [](Computation& c) { c.stages.clear(); }},
      {"more than 64", [](Computation& c) { c.stages.resize(65); }},
      {"name is bad", [](Computation& c) { c.tensors[0].name = ""; }},
      {"name is bad", [](Computation& c) { c.tensors[0].name = c.tensors[1].name; }},
      {"name is bad", [](Computation& c) { c.scalars = {"N"}; }},
      {"more than 8 dimensions", [](Computation& c) { c.tensors[0].shape.resize(9); }},
      {"'Q' of 'inp' is not an argument", [](Computation& c) { c.tensors[1].shape[0] = testing::S("Q"); }},
      {"the size 'C' is not an argument",
       [](Computation& c) {
         c.sizes = {"N"};
         for (auto& tensor : c.tensors) tensor.shape = testing::Sizes({"N", "N"});
       }},
      {"an assumption", [](Computation& c) { c.assumptions = {std::string(1001, 'x')}; }},
      {"stage 't1'", stage([](core::Stage& s) { s.nodes.clear(); })},
      {"no nodes", stage([](core::Stage& s) { s.nodes.resize(4097); })},
      {"does not precede", stage([](core::Stage& s) { std::get<core::Call>(s.nodes[5]).args = {5}; })},
      {"does not precede", stage([](core::Stage& s) { std::get<core::Call>(s.nodes[5]).args = {4'000'000'000}; })},
      {"number of arguments", stage([](core::Stage& s) { std::get<core::Call>(s.nodes[5]).args = {1, 1}; })},
      {"integer function", stage([](core::Stage& s) { s.nodes[5] = core::Call{core::Function::kBitNot, {0}}; })},
      {"fewer than two", stage([](core::Stage& s) { s.nodes[4] = core::Nary{core::ReduceOp::kSum, {0}}; })},
      {"fewer than two", stage([](core::Stage& s) { s.nodes[4] = core::Nary{core::ReduceOp::kArgMaxLast, {0, 1}}; })},
      {"logic of a number", stage([](core::Stage& s) { s.nodes[4] = core::Logic{core::Logic::Op::kNot, {0}}; })},
      {"condition that is a number", stage([](core::Stage& s) { s.nodes[4] = core::Select{0, 1, 1}; })},
      {"no scalar 'x'", stage([](core::Stage& s) { s.nodes[1] = core::ScalarRead{"x"}; })},
      {"name that is empty", stage([](core::Stage& s) { s.name = "a b"; })},
      {"no argument of this name", stage([](core::Stage& s) { s.output = true; })},
      {"name of an argument", stage([](core::Stage& s) { s.name = "inp"; })},
      {"with coordinates", stage([](core::Stage& s) { s.at = {V(0)}; })},
      {"parts with different extents", stage([](core::Stage& s) { s.name = "t0", s.extents = testing::Sizes({"C"}); })},
      {"more than 8 dimensions", stage([](core::Stage& s) { s.extents.resize(9); })},
      {"an unknown variable", stage([](core::Stage& s) { s.domain = {testing::Within(V(1), "0", "")}; })},
      {"the size 'Q'", stage([](core::Stage& s) { s.domain = {testing::Within(V(0), "Q", "")}; })},
      {"used outside", stage([](core::Stage& s) { s.nodes.emplace_back(core::IndexValue{V(1)}); })},
      {"more than 64 variables", stage([](core::Stage& s) { s.nodes[0] = core::IndexValue{V(64)}; })},
      {"no stage 't9'", stage([](core::Stage& s) { std::get<core::TensorRead>(s.nodes[1]).tensor = "t9"; })},
      {"no stage 't1'", stage([](core::Stage& s) { std::get<core::TensorRead>(s.nodes[1]).tensor = "t1"; })},
      {"another rank", stage([](core::Stage& s) { std::get<core::TensorRead>(s.nodes[1]).at.clear(); })},
      {"no argument 'out' is read",
       stage([](core::Stage& s) { std::get<core::TensorRead>(s.nodes[0]).tensor = "out"; })},
      {"not an integer", stage([](core::Stage& s) { std::get<core::TensorRead>(s.nodes[1]).at = {core::NodeId{0}}; })},
      {"variable that is taken", reduce([](core::Reduce& r) { r.variables[0].id = 0; })},
      {"variable that is taken", reduce([](core::Reduce& r) { r.variables.push_back(r.variables[0]); })},
      {"more than 64 variables", reduce([](core::Reduce& r) { r.variables[0].id = 64; })},
      {"belongs to an arg", reduce([](core::Reduce& r) { r.index = V(1); })},
      {"belongs to an arg", reduce([](core::Reduce& r) { r.op = core::ReduceOp::kArgMinLast; })},
      {"more than 64 guards", reduce([](core::Reduce& r) { r.guards.resize(65); })},
      {"not in order", reduce([](core::Reduce& r) {
         core::Affine twice = V(1);
         twice.terms.push_back(twice.terms[0]);
         r.guards = {testing::Within(V(0), "0", "")};
         r.guards[0].value = twice;
       })},
      {"without its modulus", reduce([](core::Reduce& r) {
         r.guards = {testing::Within(V(0), "0", "")};
         r.guards[0].value.terms[0].part = core::Affine::Part::kQuotient;
       })},
      {"another type", [](Computation& c) { c.stages[2].dtype = core::DType::kF16; }},
      {"another rank", [](Computation& c) { c.stages[2].at = {V(0)}; }},
  };
  for (const auto& row : rows) {
    core::Computation computation = testing::Softmax();
    row.spoil(computation);
    const auto status = core::Validate(computation);
    ASSERT_FALSE(status) << row.message;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(status.error().message.find(row.message), std::string::npos)
        << row.message << " / " << status.error().message;
  }
}

TEST(Validate, SiblingsMayShareAVariable) {
  testing::StageBuilder out("out", {"N"});
  const auto body = out.Read("x", {V(1)});
  const auto sum = out.Reduce(core::ReduceOp::kSum, {{1, "N"}}, body);
  const auto max = out.Reduce(core::ReduceOp::kMax, {{1, "N"}}, body);
  out.Output().Sum({sum, max});
  core::Computation computation = testing::Finished(
      {.tensors = {testing::Input("x", {"N"}), testing::Output("out", {"N"})}, .stages = {out.stage}});
  EXPECT_TRUE(core::Validate(computation));
  // But not one within the other.
  std::get<core::Reduce>(computation.stages[0].nodes[2]).body = 1;
  EXPECT_FALSE(core::Validate(computation));
}

TEST(Names, OfFunctionsMatchTheirArity) {
  EXPECT_EQ(core::Name(core::Function::kReciprocal), "reciprocal");
  EXPECT_EQ(core::Name(core::Function::kNormcdf), "normcdf");
  EXPECT_EQ(core::Name(core::Function::kRint), "rint");
  EXPECT_EQ(core::Name(core::Function::kPower), "pow");
  EXPECT_EQ(core::Name(core::Function::kIntegerDivide), "idiv");
  EXPECT_EQ(core::Name(core::Function::kLeadingZeros), "clz");
  EXPECT_EQ(core::Arity(core::Function::kCopysign), 2u);
  EXPECT_EQ(core::Arity(core::Function::kBitXor), 2u);
  EXPECT_EQ(core::Arity(core::Function::kBitNot), 1u);
}

TEST(Assumptions, OfSizesHoldOrAreNamed) {
  core::Computation computation;
  computation.assumptions = {"for inputs without NaN", "N = 1", "M = K", "C % 4 = 0"};
  const struct {
    std::map<std::string, int64_t> sizes;
    std::optional<std::string> broken;
  } rows[] = {
      {{{"N", 1}, {"M", 5}, {"K", 5}}, std::nullopt},
      {{{"N", 2}, {"M", 5}, {"K", 5}}, "N = 1"},
      {{{"N", 1}, {"M", 5}, {"K", 6}}, "M = K"},
      {{{"C", 8}}, std::nullopt},
      {{{"C", 6}}, "C % 4 = 0"},
  };
  for (const auto& row : rows) EXPECT_EQ(core::BrokenAssumption(computation, row.sizes), row.broken);
  // Which inputs go the way that was seen, no size tells.
  computation.assumptions = {"path 1 of 2 seen (k.cu:3)"};
  EXPECT_EQ(core::BrokenAssumption(computation, {}), computation.assumptions[0]);
  EXPECT_EQ(core::Normalize(computation).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace warpwright
