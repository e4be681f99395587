// Literals that a launcher made from scalars.
#include "lift/literal_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/computation_evaluate.h"

namespace warpwright::lift {
namespace {

using RealScalars = std::map<std::string, double>;
struct LiteralShape {
  core::Sizes sizes;
  RealScalars reals;
};
LiteralShape LiteralAt(int64_t n, int64_t t, double rate, double beta) {
  return {{{"n", n}, {"t", t}}, {{"beta", beta}, {"rate", rate}}};
}

double SizeN(const LiteralShape& s) { return static_cast<double>(s.sizes.at("n")); }
double StepT(const LiteralShape& s) { return static_cast<double>(s.sizes.at("t")); }

struct LiteralRow {
  const char* name;
  std::function<double(const LiteralShape&)> value;
};
class Literals : public testing::TestWithParam<LiteralRow> {};

// What is found from three shapes has the literal's value at a fourth.
TEST_P(Literals, HoldAtAnotherShape) {
  const std::vector<LiteralShape> shapes = {LiteralAt(70, 3, 0.0094, 0.87), LiteralAt(33, 5, 0.0101, 0.91),
                                            LiteralAt(129, 4, 0.0107, 0.79)};
  std::vector<core::Sizes> sizes;
  std::vector<RealScalars> reals;
  std::vector<double> values;
  for (const LiteralShape& shape : shapes) {
    sizes.push_back(shape.sizes);
    reals.push_back(shape.reals);
    values.push_back(static_cast<float>(GetParam().value(shape)));
  }
  const core::SizeSolver solver(sizes, {});
  core::Stage stage{.name = "out", .output = true, .extents = {core::Size::Constant(1)}};
  const auto found = LiteralSolver(solver, reals).Solve(values, [&](core::Node node) {
    stage.nodes.push_back(std::move(node));
    return static_cast<core::NodeId>(stage.nodes.size() - 1);
  });
  ASSERT_TRUE(found);
  ASSERT_EQ(*found + 1, stage.nodes.size());
  const core::Computation computation{.tensors = {{.name = "out", .shape = {core::Size::Constant(1)}, .written = true}},
                                      .sizes = {"n", "t"},
                                      .scalars = {"beta", "rate"},
                                      .stages = {stage}};
  const LiteralShape other = LiteralAt(90, 7, 0.0083, 0.83);
  const auto evaluator = core::ComputationEvaluator::Compile(computation, other.sizes, {});
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  const auto results = evaluator->Run({.scalars = other.reals});
  ASSERT_TRUE(results);
  EXPECT_NEAR((*results)[0].real[0], GetParam().value(other), 2e-5 * std::fabs(GetParam().value(other)));
}
INSTANTIATE_TEST_SUITE_P(
    All, Literals,
    testing::Values(
        LiteralRow{"PowerOfSize", [](const LiteralShape& s) { return std::pow(s.reals.at("beta"), StepT(s)); }},
        LiteralRow{"OneMinusPower", [](const LiteralShape& s) { return 1 - std::pow(s.reals.at("beta"), StepT(s)); }},
        LiteralRow{"Correction",
                   [](const LiteralShape& s) { return 1 / (1 - std::pow(s.reals.at("beta"), StepT(s))); }},
        LiteralRow{"StepOfAdam",
                   [](const LiteralShape& s) {
                     const double beta = s.reals.at("beta");
                     return s.reals.at("rate") * std::sqrt(1 - std::pow(beta, StepT(s))) / SizeN(s);
                   }},
        LiteralRow{"Frequency", [](const LiteralShape& s) { return std::pow(s.reals.at("beta"), -2 / SizeN(s)); }},
        LiteralRow{"Ratio", [](const LiteralShape& s) { return StepT(s) / SizeN(s); }},
        LiteralRow{"ShareAndRest",
                   [](const LiteralShape& s) { return 1 - s.reals.at("rate") + s.reals.at("rate") / SizeN(s); }},
        LiteralRow{"LogarithmOverSize",
                   [](const LiteralShape& s) { return -2 * std::log(s.reals.at("beta")) / SizeN(s); }}),
    [](const auto& info) { return info.param.name; });

TEST(LiteralSolver, WhatIsMeantIsNoFartherThanALiteralsRounding) {
  for (const auto& [value, meant] : std::map<double, double>{{6.283185, 2 * M_PI},
                                                             {-0.7853982, -M_PI_4},
                                                             {6.2832, 6.2832},
                                                             {0.10000004, 0.1},
                                                             {0.7978846, 0.7978846},
                                                             {0.333334, 0.333334}})
    EXPECT_EQ(MeantLiteral(value), meant) << value;
}

TEST(LiteralSolver, WhatNothingMakes) {
  const std::vector<core::Sizes> sizes = {{{"n", 70}}, {{"n", 33}}, {{"n", 129}}};
  const core::SizeSolver solver(sizes, {});
  EXPECT_FALSE(LiteralSolver(solver, {{}, {}, {}}).Solve({0.123456, 0.9876543, 0.5551234}, [](const core::Node&) {
    return core::NodeId{0};
  }));
}

// To 1 / eps - 1 / eps everything is near that is compared with 1 / eps.
TEST(LiteralSolver, APartThatIsFarLargerThanTheLiteralExplainsNothing) {
  const std::vector<core::Sizes> sizes = {{{"n", 70}}, {{"n", 33}}, {{"n", 129}}};
  const core::SizeSolver solver(sizes, {});
  LiteralSolver literals(solver, {{{"eps", 1.1e-6}}, {{"eps", 0.9e-6}}, {{"eps", 1.3e-6}}});
  EXPECT_FALSE(literals.Solve({1 / 139.0, 1 / 200.0, 1 / 27.0}, [](const core::Node&) { return core::NodeId{0}; }));
}

}  // namespace
}  // namespace warpwright::lift
