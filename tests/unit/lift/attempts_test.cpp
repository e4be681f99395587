// What lifting tries where the shapes of the manifest do not agree on one form, and what it says of that.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/computation_text.h"
#include "lift/lift.h"
#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

struct Sizes {
  int n = 0, m = 0;
  bool even = true, apart = false;
};

// `y = kernel(x)` over x[n][m], one block for each row; with another kernel behind it, which reads as x what the first
// one wrote to a workspace.
core::LiftOutcome LiftRows(const std::string& body, const std::vector<Sizes>& sizes, const std::string& second = "",
                           const std::string& input = "x", const std::string& output = "y",
                           uint32_t node_limit = 3'000'000) {
  const std::string head = "(const float* x, float* y, int n, int m) { int r = blockIdx.x, t = threadIdx.x; ";
  const TraceKit compiled = TraceKit::FromCuda(
      "__global__ void k" + head + body + " }\n__global__ void k2" + head + second + " }", {"k", "k2"});
  const auto kit_at = [&](int n, int m) {
    TraceKit kit = compiled;
    const auto count = static_cast<size_t>(n) * static_cast<size_t>(m);
    const uint32_t x = kit.Argument(input, DType::kF32, count, [](size_t i) { return std::sin(3.0 * double(i)); }),
                   y = kit.Argument(output, DType::kF32, count);
    const auto rows = static_cast<uint32_t>(n);
    const uint32_t first = second.empty() ? y : kit.Workspace(4 * count);
    kit.Launch("k", {rows}, {8}, Pointer{x}, Pointer{first}, n, m);
    if (!second.empty()) kit.Launch("k2", {rows}, {8}, Pointer{first}, Pointer{y}, n, m);
    return kit;
  };
  core::LiftRequest request;
  request.node_limit = node_limit;
  core::BufferArgument in, out;
  in.shape = out.shape = {core::Expression::Parse("n").value(), core::Expression::Parse("m").value()};
  out.role = core::Role::kOut;
  request.spec.args = {{input, in}, {output, out}, {"n", core::ScalarArgument{}}, {"m", core::ScalarArgument{}}};
  for (const Sizes& s : sizes) {
    core::LiftShape shape{.even = s.even, .apart = s.apart};
    shape.scalars = {{"n", int64_t{s.n}}, {"m", int64_t{s.m}}};
    shape.buffers = kit_at(s.n, s.m).buffers;
    request.shapes.push_back(std::move(shape));
  }
  const auto prepare = [&](const core::LiftShape& at) -> Result<PrepareOutcome> {
    const TraceKit kit = kit_at(static_cast<int>(std::get<int64_t>(at.scalars.at("n"))),
                                static_cast<int>(std::get<int64_t>(at.scalars.at("m"))));
    return PrepareOutcome(PreparedShape{std::make_shared<core::CompiledModule>(kit.module), kit.plan});
  };
  return *LiftEntry(request, prepare);
}

using Texts = std::vector<std::string>;
const std::vector<Sizes> kSquares = {{4, 4}, {5, 5}, {7, 7}, {6, 6}, {4, 6, true, true}, {5, 8, true, true}};

struct AttemptRow {
  const char* name;
  const char* body;
  std::vector<Sizes> sizes;
  Texts assumptions;
};
class Attempts : public testing::TestWithParam<AttemptRow> {};

TEST_P(Attempts, SayUnderWhichTheFormHolds) {
  const auto outcome = LiftRows(GetParam().body, GetParam().sizes);
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  EXPECT_TRUE(std::get<core::Lifted>(outcome).verified);
  EXPECT_EQ(std::get<core::Lifted>(outcome).computation.assumptions, GetParam().assumptions);
}
INSTANTIATE_TEST_SUITE_P(
    All, Attempts,
    testing::Values(
        AttemptRow{"PairsWithoutARest",
                   "for (int c = t; c < m / 2; c += 8) ((float2*)y)[r * (m / 2) + c] = ((float2*)x)[r * (m / 2) + c];",
                   {{4, 6}, {3, 7, false}, {5, 10}, {4, 9, false}, {6, 8}, {7, 12}, {3, 16}},
                   {"m % 2 = 0"}},
        AttemptRow{"WholeTilesAlone",
                   "if (m % 4 == 0) for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;",
                   {{4, 8}, {3, 7, false}, {5, 12}, {6, 6, false}, {6, 16}, {7, 20}},
                   {"m % 4 = 0"}},
        AttemptRow{"WholePatchesAtAllShapes",
                   "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;",
                   {{4, 16}, {3, 32}, {5, 48}, {6, 64}},
                   {"m % 16 = 0"}},
        // As windows of three and of four: the form is that of the size which is alike in most shapes.
        AttemptRow{"AnotherFormAtAnotherSize",
                   "for (int c = t; c < m; c += 8) y[r * m + c] = n == 3 ? x[r * m + c] * 2 : cosf(x[r * m + c]);",
                   {{3, 6}, {4, 8}, {3, 7}, {3, 9}, {3, 10}, {3, 5}},
                   {"n = 3"}},
        AttemptRow{"AnythingGoes",
                   "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;",
                   {{4, 6}, {3, 7, false}, {5, 10}, {4, 9, false}, {6, 8}},
                   {}},
        AttemptRow{
            "EqualSizesThatMayDiffer", "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;", kSquares, {}},
        AttemptRow{"EqualSizesThatMustNotDiffer",
                   "for (int c = t; c < m; c += 8) y[r * m + c] = x[c * m + r];",
                   kSquares,
                   {"m = n"}},
        AttemptRow{
            "LoopThatNoDataEnter",
            "for (int c = t; c < m; c += 8) { float v = x[r * m + c]; while (v > 100) v = v / 3; y[r * m + c] = v; }",
            {{4, 6}, {3, 7}, {5, 10}, {6, 8}},
            {"path 1 of 2 seen (kernel.cu:1)"}}),
    [](const auto& info) { return info.param.name; });

// A form of three shapes fits them by construction: what nobody could check at a fourth one is not claimed.
TEST(LiftAttempts, WhatIsCheckedNowhereElseIsNotClaimed) {
  const std::string map = "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;";
  const std::vector<Sizes> four = {{4, 6}, {3, 7}, {5, 10}, {6, 8}};
  EXPECT_TRUE(std::holds_alternative<core::Lifted>(LiftRows(map, four)));
  const auto outcome = LiftRows(map, {four.begin(), four.begin() + 3});
  ASSERT_TRUE(std::holds_alternative<core::NotLifted>(outcome));
  EXPECT_EQ(std::get<core::NotLifted>(outcome).blocker, "too few shapes");
}

TEST(LiftAttempts, HalvesAreRoundedAsTheOriginalRoundsThem) {
  for (const char* function : {"rint", "round"}) {
    const auto outcome =
        LiftRows(std::string("for (int c = t; c < m; c += 8) y[r * m + c] = ") + function + "f(x[r * m + c] * 3);",
                 {{4, 6}, {3, 7}, {5, 10}, {6, 8}});
    ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome));
    const std::string text = core::ComputationText(std::get<core::Lifted>(outcome).computation);
    EXPECT_NE(text.find(std::string(" ") + function + "("), std::string::npos) << text;
  }
}

// Real and imaginary parts side by side: in one of them half of the terms are subtracted.
TEST(LiftAttempts, ProductsOfComplexNumbersAreSums) {
  const auto outcome = LiftRows(
      "if (t < 2) { float re = 0, im = 0; for (int c = 0; c + 1 < m; c += 2) { float a = x[r * m + c], b = x[r * m + c "
      "+ 1], "
      "p = x[c], q = x[c + 1]; re += a * p + b * q; im += a * q - b * p; } y[r * m + t] = t == 0 ? re : im; }",
      {{4, 6}, {3, 8}, {5, 10}, {6, 12}, {7, 14}});
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  EXPECT_TRUE(std::get<core::Lifted>(outcome).verified);
}

// A product of each group of channels, of `c` inputs and `k` outputs in `g` groups.
core::LiftOutcome LiftGroups(const std::vector<std::array<int, 3>>& sizes) {
  const TraceKit compiled = TraceKit::FromCuda(
      "__global__ void f(const float* x, const float* w, float* y, int c, int k, int g) {\n"
      "  int i = threadIdx.x, inputs = c / g; float sum = 0;\n"
      "  if (i >= k) return;\n"
      "  for (int j = 0; j < inputs; ++j) sum += x[i / (k / g) * inputs + j] * w[i * inputs + j];\n"
      "  y[i] = sum; }",
      {"f"});
  const auto kit_at = [&](int c, int k, int g) {
    TraceKit kit = compiled;
    const auto wave = [](size_t i) { return std::sin(3.0 * double(i)); };
    const uint32_t x = kit.Argument("x", DType::kF32, static_cast<size_t>(c), wave),
                   w = kit.Argument("w", DType::kF32, static_cast<size_t>(k) * (c / g), wave),
                   y = kit.Argument("y", DType::kF32, static_cast<size_t>(k));
    kit.Launch("f", {1}, {32}, Pointer{x}, Pointer{w}, Pointer{y}, c, k, g);
    return kit;
  };
  core::LiftRequest request;
  core::BufferArgument x, w, y;
  x.shape = {core::Expression::Parse("c").value()};
  w.shape = {core::Expression::Parse("k").value(), core::Expression::Parse("c / g").value()};
  y.shape = {core::Expression::Parse("k").value()};
  y.role = core::Role::kOut;
  request.spec.args = {{"x", x}, {"w", w}, {"y", y}};
  for (const char* name : {"c", "k", "g"}) request.spec.args.push_back({name, core::ScalarArgument{}});
  for (const auto& [c, k, g] : sizes) {
    core::LiftShape shape;
    shape.scalars = {{"c", int64_t{c}}, {"k", int64_t{k}}, {"g", int64_t{g}}};
    shape.buffers = kit_at(c, k, g).buffers;
    request.shapes.push_back(std::move(shape));
  }
  return *LiftEntry(request, [&](const core::LiftShape& at) -> Result<PrepareOutcome> {
    const auto value = [&](const char* name) { return static_cast<int>(std::get<int64_t>(at.scalars.at(name))); };
    const TraceKit kit = kit_at(value("c"), value("k"), value("g"));
    return PrepareOutcome(PreparedShape{std::make_shared<core::CompiledModule>(kit.module), kit.plan});
  });
}

// Four channels in every group of the first shapes: of one with five, nobody would know.
TEST(LiftAttempts, TheChannelsOfAGroupAreNoNumber) {
  std::vector<std::array<int, 3>> sizes = {{8, 4, 2}, {12, 9, 3}, {16, 20, 4}, {4, 3, 1}, {24, 12, 6}};
  for (const bool varies : {false, true}) {
    if (varies) sizes.push_back({10, 6, 2});
    const auto outcome = LiftGroups(sizes);
    ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
    const Texts always = {"c % g = 0", "k % g = 0"}, of_four = {"c / g = 4", "c % g = 0", "k % g = 0"};
    EXPECT_EQ(std::get<core::Lifted>(outcome).computation.assumptions, varies ? always : of_four);
  }
}

// The mean of products is a sum over all of them, unless it is one of what the launch before left.
TEST(LiftAttempts, ASumOfWhatALaunchLeftIsNotAddedUpAnew) {
  const auto outcome = LiftRows(
      "for (int c = t; c < m; c += 8) { float s = 0; for (int k = 0; k < n; ++k) s += x[r * m + k] * cosf(x[k * m + "
      "c]); "
      "y[r * m + c] = s; }",
      {{3, 5}, {4, 7}, {5, 6}, {4, 9}},
      "float s = 0; for (int c = 0; c < m; ++c) s += x[r * m + c];\n"
      "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] - s / m;");
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  const core::Computation& computation = std::get<core::Lifted>(outcome).computation;
  EXPECT_NE(core::ComputationText(computation).find("sum_{r0<n} cos(x[r0,i0]) * x[i1,r0]"), std::string::npos)
      << core::ComputationText(computation);
  EXPECT_NE(core::ComputationText(computation).find("sum_{r0<m} u0[i0,r0]"), std::string::npos)
      << core::ComputationText(computation);
}

// What is said of intermediate results has names of its own.
TEST(LiftAttempts, ArgumentsMayBeNamedLikeStages) {
  const char* const normalized =
      "float s = 0; for (int c = 0; c < m; ++c) s += x[r * m + c]; for (int c = t; c < m; c += 8) y[r * m + c] = x[r * "
      "m + c] / s;";
  const std::vector<Sizes> sizes = {{4, 6}, {3, 7}, {5, 10}, {6, 8}};
  const auto usual = LiftRows(normalized, sizes), other = LiftRows(normalized, sizes, "", "t1", "t0");
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(usual)) << std::get<core::NotLifted>(usual).message;
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(other)) << std::get<core::NotLifted>(other).message;
  EXPECT_EQ(std::get<core::Lifted>(usual).computation.stages[0].name, "t0");
  EXPECT_EQ(std::get<core::Lifted>(other).computation.stages[0].name, "tt0");
}

TEST(LiftAttempts, WhatIsLargerThanWhatWasTooLargeIsNotTried) {
  const auto outcome = LiftRows("for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * 2;",
                                {{4, 6}, {40, 60}, {50, 70}, {45, 60}, {3, 7}, {5, 10}, {6, 8}}, "", "x", "y", 2000);
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  EXPECT_TRUE(std::get<core::Lifted>(outcome).verified);
  EXPECT_EQ(std::get<core::Lifted>(outcome).notes, Texts{"at n=40, m=60: more than 2000 expressions"});
}

// A window of three in every other column ends behind an even row, and within an odd one.
// Of three rows at all shapes but two, of which one is too much: the other one tells.
TEST(LiftAttempts, WhatWasTooLargeTellsNothingOfASize) {
  const core::LiftOutcome outcome =
      LiftRows("float sum = 0; for (int i = 0; i < m; ++i) sum += x[r * m + i]; if (t == 0) y[r * m] = sum * n;",
               {{3, 5}, {3, 7}, {3, 11}, {3, 8}, {64, 40}, {3, 10}, {5, 6}, {4, 9}, {6, 10}}, "", "x", "y", 600);
  const auto* lifted = std::get_if<core::Lifted>(&outcome);
  ASSERT_NE(lifted, nullptr) << std::get<core::NotLifted>(outcome).message;
  EXPECT_TRUE(lifted->verified);
  EXPECT_TRUE(lifted->computation.assumptions.empty()) << lifted->computation.assumptions.front();
}

TEST(LiftAttempts, AnEdgeIsSeenWhereRowsAreEven) {
  const auto outcome = LiftRows(
      "if (t >= m / 2) return; float s = 0; "
      "for (int c = 2 * t; c < 2 * t + 3; ++c) if (c < m) s += x[r * m + c]; y[r * m + t] = s;",
      {{4, 9}, {3, 13}, {5, 11}, {6, 7}, {4, 12}, {5, 10}});
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  const std::string text = core::ComputationText(std::get<core::Lifted>(outcome).computation);
  EXPECT_NE(text.find(" < m"), std::string::npos) << text;
}

// The bound of a variance that may be zero is none, and any number would do.
TEST(LiftAttempts, AFormIsWrongThoughNoElementHasABound) {
  const auto outcome = LiftRows(
      "float s = 0, q = 0; for (int c = 0; c < m; ++c) { float v = 1 + x[r * m + c] * 0.004f; s += v; q += v * v; } "
      "float d = rsqrtf(fmaxf(q / m - s / m * (s / m), 0) + 1e-6f) * (m > 280 ? 2 : 1); "
      "for (int c = t; c < m; c += 8) y[r * m + c] = x[r * m + c] * d;",
      {{3, 200}, {2, 260}, {4, 230}, {5, 300}, {3, 310}});
  ASSERT_TRUE(std::holds_alternative<core::NotLifted>(outcome));
}

TEST(LiftAttempts, NothingIsSaidOfALoopThatSomeDataEnter) {
  const auto outcome = LiftRows(
      "for (int c = t; c < m; c += 8) { float v = x[r * m + c]; while (v > 0.9f) v = v / 3; y[r * m + c] = v; }",
      {{4, 6}, {3, 7}, {5, 10}, {6, 8}});
  ASSERT_TRUE(std::holds_alternative<core::NotLifted>(outcome));
  EXPECT_EQ(std::get<core::NotLifted>(outcome).blocker, "branch on data");
}

// What is zero on one side of a diagonal stays a statement of its own: kernels leave that side out.
TEST(AttemptsOfEmptySums, TrianglesAreNone) {
  const auto outcome = LiftRows(
      "for (int c = t; c < m; c += 8) { float s = 0; for (int k = c; k <= r && k < m; ++k) s += x[r * m + k] * x[c * m "
      "+ k]; "
      "y[r * m + c] = s; }",
      {{7, 6}, {8, 7}, {9, 8}, {6, 5}, {8, 6}});
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  EXPECT_GE(std::get<core::Lifted>(outcome).computation.stages.size(), 2u);
}

// Of two numbers at all shapes, 0.7071 / m is 1 / sqrt(24 m - 64) as well.
TEST(AttemptsOfLiterals, OneConstantIsBelievedBeforeAFormulaOfTwo) {
  const auto outcome =
      LiftRows("if (t < m) y[r * m + t] = x[r * m + t] * (0.70710678f / m);", {{3, 4}, {5, 8}, {7, 4}, {2, 8}, {6, 4}});
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(outcome)) << std::get<core::NotLifted>(outcome).message;
  const std::string text = core::ComputationText(std::get<core::Lifted>(outcome).computation);
  EXPECT_EQ(text.find("rsqrt"), std::string::npos) << text;
  EXPECT_NE(text.find("0.7071068"), std::string::npos) << text;
}

}  // namespace
}  // namespace warpwright::lift
