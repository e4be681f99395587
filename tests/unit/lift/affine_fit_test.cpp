// Functions through points.
#include "lift/affine_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace warpwright::lift {
namespace {

// All points of a box, as columns.
std::vector<Column> BoxOfPoints(const std::vector<int64_t>& extents) {
  std::vector<Column> columns(extents.size());
  std::vector<int64_t> point(extents.size(), 0);
  while (true) {
    for (size_t k = 0; k < point.size(); ++k) columns[k].push_back(point[k]);
    size_t k = point.size();
    while (k > 0 && ++point[k - 1] == extents[k - 1]) point[--k] = 0;
    if (k == 0) return columns;
  }
}

using PointFunction = std::function<int64_t(int64_t, int64_t)>;
struct IntegerRow {
  const char* name;
  PointFunction value;
  bool affine, digit;
};
class Fits : public testing::TestWithParam<IntegerRow> {};

TEST_P(Fits, ExactlyOrNot) {
  const std::vector<Column> box = BoxOfPoints({7, 12});
  Column values;
  for (size_t row = 0; row < box[0].size(); ++row) values.push_back(GetParam().value(box[0][row], box[1][row]));
  EXPECT_EQ(FitAffine(Pointers(box), values).has_value(), GetParam().affine);
  const auto fit = FitAffineOrDigit(Pointers(box), values);
  ASSERT_EQ(fit.has_value(), GetParam().digit);
  for (size_t row = 0; fit && row < values.size(); ++row)
    ASSERT_EQ(fit->Numerator([&](size_t k) { return box[k][row]; }), values[row] * fit->divisor);
}
INSTANTIATE_TEST_SUITE_P(
    All, Fits,
    testing::Values(IntegerRow{"constant", [](int64_t, int64_t) { return 5; }, true, true},
                    IntegerRow{"affine", [](int64_t a, int64_t b) { return 3 * a - 2 * b + 7; }, true, true},
                    IntegerRow{"quotient", [](int64_t a, int64_t b) { return a + b / 3; }, false, true},
                    IntegerRow{"remainder", [](int64_t a, int64_t b) { return 10 * a + b % 4; }, false, true},
                    IntegerRow{"both digits", [](int64_t, int64_t b) { return b / 4 + 5 * (b % 4); }, false, true},
                    IntegerRow{"product", [](int64_t a, int64_t b) { return a * b; }, false, false},
                    IntegerRow{"clamped", [](int64_t, int64_t b) { return b < 5 ? b : 5; }, false, false}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, ' ');
      return name;
    });

TEST(FitAffine, DivisionStaysExact) {
  const Column x = {1, 3, 5, 7}, values = {0, 1, 2, 3};
  const auto fit = FitAffine({&x}, values);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->divisor, 2);
  EXPECT_EQ(fit->coefficients[0], 1);
  EXPECT_EQ(fit->constant, -1);
}

TEST(FitAffine, OneWrongPointOfThousandsIsSeen) {
  std::vector<Column> box = BoxOfPoints({60, 70});
  Column values;
  for (size_t row = 0; row < box[0].size(); ++row) values.push_back(box[0][row] + 2 * box[1][row]);
  EXPECT_TRUE(FitAffine(Pointers(box), values));
  ++values[2345];
  EXPECT_FALSE(FitAffine(Pointers(box), values));
}

TEST(FitLine, SlopesOfLiterals) {
  const std::vector<Column> box = BoxOfPoints({5, 6});
  std::vector<double> values;
  for (size_t row = 0; row < box[0].size(); ++row)
    values.push_back(static_cast<float>(0.25 * static_cast<double>(box[0][row]) - 1.5));
  const auto line = FitLine(Pointers(box), values);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slopes[0], 0.25, 1e-6);
  EXPECT_EQ(line->slopes[1], 0);
  EXPECT_NEAR(line->constant, -1.5, 1e-6);
}

TEST(FitLine, RoundingIsNoSlope) {
  const std::vector<Column> box = BoxOfPoints({4, 9});
  std::vector<double> values;
  for (size_t row = 0; row < box[0].size(); ++row)
    values.push_back(-0.7 * static_cast<double>(box[1][row]) + 1e-8 * static_cast<double>(box[0][row]));
  const auto line = FitLine(Pointers(box), values);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->slopes[0], 0);
}

struct RealRow {
  const char* name;
  std::function<double(double, double)> value;
  bool fits;
};
class FitsBilinear : public testing::TestWithParam<RealRow> {};

TEST_P(FitsBilinear, AsExactAsFloats) {
  const std::vector<Column> box = BoxOfPoints({9, 8});
  std::vector<double> values;
  for (size_t row = 0; row < box[0].size(); ++row)
    values.push_back(
        static_cast<float>(GetParam().value(static_cast<double>(box[0][row]), static_cast<double>(box[1][row]))));
  const auto fit = FitBilinear(Pointers(box), values);
  ASSERT_EQ(fit.has_value(), GetParam().fits);
  if (fit && std::string(GetParam().name) == "product") {
    ASSERT_EQ(fit->terms.size(), 1u);
    EXPECT_NEAR(fit->terms[0].coefficient, -0.3926991, 1e-6);
    EXPECT_EQ(fit->line.constant, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(All, FitsBilinear,
                         testing::Values(RealRow{"product", [](double a, double b) { return -0.3926991 * a * b; },
                                                 true},
                                         RealRow{"square", [](double a, double b) { return a * a - 2 * b + 1; }, false},
                                         RealRow{"mixed", [](double a, double b) { return a * b - 2 * b + 1; }, true},
                                         RealRow{"cubic", [](double a, double b) { return a * a * a + b; }, false},
                                         RealRow{"wave", [](double a, double b) { return std::sin(a * b); }, false}),
                         [](const auto& info) { return info.param.name; });

TEST(FitBilinear, AFewPointsSayNothing) {
  const Column a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  EXPECT_FALSE(FitBilinear({&a, &b}, {77, 150, 29, 12}));
}

TEST(RowSpace, NullSpaceIsWhatAllRowsAgreeOn) {
  RowSpace space(3);
  EXPECT_TRUE(space.Add(std::vector<int64_t>{1, 1, 0}));
  EXPECT_TRUE(space.Add(std::vector<int64_t>{0, 0, 1}));
  EXPECT_FALSE(space.Add(std::vector<int64_t>{2, 2, 5}));
  const auto basis = space.NullSpace();
  ASSERT_EQ(basis.size(), 1u);
  EXPECT_EQ(basis[0], (std::vector<int64_t>{1, -1, 0}));
}

TEST(FitGrid, FindsHowOneGridLiesOverAnother) {
  const struct {
    int64_t own, extent;
    std::function<int64_t(int64_t)> at;
    bool found = true;
  } rows[] = {
      {23, 10, [](int64_t x) { return x * 10 / 23; }},
      {11, 24, [](int64_t x) { return x * 24 / 11; }},
      {11, 24, [](int64_t x) { return (2 * x + 1) * 24 / 22; }},
      {13, 30, [](int64_t x) { return x * 29 / 12; }},
      {13, 30, [](int64_t x) { return (2 * x * 29 + 12) / 24; }},
      {13, 30, [](int64_t x) { return x * x % 30; }, false},
  };
  for (const auto& row : rows) {
    Column x, values;
    for (int64_t k = 0; k < row.own; ++k) {
      x.push_back(k);
      values.push_back(row.at(k));
    }
    const auto fit = FitGrid({&x}, values, row.extent);
    ASSERT_EQ(fit.has_value(), row.found);
    for (int64_t k = 0; fit && k < row.own; ++k)
      EXPECT_EQ((fit->factor * k + fit->offset) / fit->divisor, values[static_cast<size_t>(k)]);
  }
}

}  // namespace
}  // namespace warpwright::lift
