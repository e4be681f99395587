// Sizes, positions, guards and types as text.
#include "schedule/expression_code.h"

#include <gtest/gtest.h>

#include "tests/support/computation_builder.h"

namespace warpwright {
namespace {

using namespace testing;  // NOLINT: operators on positions

TEST(SizeText, IsCWithAsFewParenthesesAsItNeeds) {
  const std::pair<const char*, const char*> rows[] = {
      {"N", "N"},
      {"N * C", "N * C"},
      {"(h + 2 * pad - size) / stride + 1", "(h + 2 * pad - size) / stride + 1"},
      {"n * (a / b)", "n * (a / b)"},
      {"n - (a - b)", "n - (a - b)"},
      {"0 - pad", "-pad"},
      {"ceil_div(n, 256)", "(n + 255) / 256"},
      {"min(a, b)", "(a < b ? a : b)"},
  };
  for (const auto& [size, text] : rows) EXPECT_EQ(schedule::SizeText(S(size)), text);
}

TEST(WidenedProduct, CastsTheFirstFactorAsItStands) {
  const std::pair<const char*, const char*> rows[] = {
      {"n * c", "static_cast<long long>(n) * c"},
      {"(h + 2 * pad - k + 1) * (w + 2)", "static_cast<long long>(h + 2 * pad - k + 1) * (w + 2)"},
      {"h + 2 * pad", "h + 2 * pad"},
      {"n * (c * h)", "static_cast<long long>(n) * c * h"},
      {"(c * h) * (n + 1)", "static_cast<long long>(c) * h * (n + 1)"},
      {"n", "n"},
      {"((n + 1) * 2)", "((n + 1) * 2)"},
      {"(n + 127) / 128 * c", "(n + 127) / 128 * c"},
  };
  for (const auto& [text, widened] : rows) EXPECT_EQ(schedule::WidenedProduct(text), widened);
}

// Where 32 bits would not hold the number of elements behind one index.
TEST(OffsetText, IsAsWideAsItsStridesTogether) {
  schedule::FlatOffset offset;
  offset.coefficients = {{0, S("C * H")}, {1, S("(H + 2 * pad) * C")}, {2, S("1")}, {3, S("H - 1")}};
  EXPECT_EQ(schedule::OffsetText(offset, {{0, "n"}, {1, "m"}, {2, "x"}, {3, "y"}}),
            "static_cast<long long>(n) * C * H + static_cast<long long>(m) * "
            "(static_cast<long long>(C) * H + static_cast<long long>(2) * C * pad) + "
            "static_cast<long long>(y) * (H - 1) + x");
}

TEST(PositionText, NamesVariables) {
  const std::map<core::VariableId, std::string> names = {{0, "row"}, {1, "k + 1"}};
  const std::pair<core::Affine, const char*> rows[] = {
      {V(0), "row"},
      {V(0) * "2" + V(1), "2 * row + k + 1"},
      {V(0) * "stride" - At("pad"), "row * stride - pad"},
      {At("w - 1") - V(1), "w - (k + 1) - 1"},
      {Remainder(1, "r"), "(k + 1) % r"},
      {(V(0) + At("1")) / "2", "(row + 1) / 2"},
  };
  for (const auto& [position, text] : rows) EXPECT_EQ(schedule::PositionText(position, names), text);
}

TEST(ConditionText, JoinsBounds) {
  const std::map<core::VariableId, std::string> names = {{0, "y"}, {1, "ky"}};
  EXPECT_EQ(schedule::ConditionText({}, names), "");
  const core::Guard both[] = {Within(V(0) + V(1) - At("1"), "0", "h")};
  EXPECT_EQ(schedule::ConditionText(both, names), "y + ky >= 1 && y + ky < h + 1");
  const core::Guard divided[] = {Within(V(0) / "s", "0", "h")};
  EXPECT_EQ(schedule::ConditionText(divided, names), "y % s == 0 && y < h * s") << "y counts from zero";
  const core::Guard inner[] = {Within(V(0) - At("1"), "0", "h - 2")};
  EXPECT_EQ(schedule::ConditionText(inner, names), "y >= 1 && y < h - 1");
  const core::Guard last[] = {Within(V(0), "h - 1", "h")};
  EXPECT_EQ(schedule::ConditionText(last, names), "y == h - 1");
  EXPECT_EQ(schedule::ConditionText(inner, {{0, "y - pad"}}), "y - pad >= 1 && y - pad < h - 1");
}

TEST(Conversions, HappenWhereValuesAreLoadedAndStored) {
  schedule::Problem single, twice;
  twice.in_double = true;
  const auto real = core::ValueType::kReal;
  EXPECT_EQ(schedule::Loaded(single, core::DType::kF16, "x[i]"), "__half2float(x[i])");
  EXPECT_EQ(schedule::Loaded(twice, core::DType::kBF16, "x[i]"), "static_cast<double>(__bfloat162float(x[i]))");
  EXPECT_EQ(schedule::Loaded(single, core::DType::kU8, "x[i]"), "x[i]");
  EXPECT_EQ(schedule::Stored(single, core::DType::kF16, real, "v"), "__float2half(v)");
  EXPECT_EQ(schedule::Stored(single, core::DType::kI32, real, "v"), "static_cast<int>(v)");
  EXPECT_EQ(schedule::Stored(twice, core::DType::kF32, real, "v"), "static_cast<float>(v)");
  EXPECT_EQ(schedule::NumberText(single, 0.1), "0.1f");
  EXPECT_EQ(schedule::NumberText(single, 2), "2.0f");
  EXPECT_EQ(schedule::NumberText(twice, 0.1), "0.1");
}

// As the original's loops begin, of which fmaxf of nothing but NaN tells.
TEST(Extrema, BeginAtNoNumberWhereTheyAreResultsThatBeginWithTheirFirstTerm) {
  const std::string nan = "__int_as_float(0x7fffffff)";
  const auto first_of = [](std::vector<core::Guard> guards, bool is_shift, bool names_infinity) {
    StageBuilder most("t0", {"N"}), y("y", {"N"});
    most.Reduce(core::ReduceOp::kMax, {{1, "C"}}, most.Read("x", {V(0), V(1)}), std::move(guards));
    y.Output();
    const auto read = y.ReadStage("t0", {V(0)});
    if (is_shift) y.Apply(core::Function::kExp, {y.Minus(read)});
    schedule::Problem problem;
    problem.form.stages = {most.stage, y.stage};
    problem.entry.names_infinity = names_infinity;
    return schedule::NeutralText(problem, core::ReduceOp::kMax, core::ValueType::kReal);
  };
  EXPECT_EQ(first_of({}, false, false), nan);
  EXPECT_EQ(first_of({}, false, true), "-INFINITY");
  EXPECT_EQ(first_of({}, true, false), "-INFINITY");
  EXPECT_EQ(first_of({{.value = V(1)}}, false, false), "-INFINITY");
}

}  // namespace
}  // namespace warpwright
