// Coordinates of cells, counters of reductions and their domains, from positions alone.
#include "lift/coordinates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace warpwright::lift {
namespace {

// Rows of a reduction: for each cell, each term's slots.
struct CellTerms {
  size_t cells = 0;
  std::vector<uint32_t> cell;
  std::vector<Column> slots;
  CellPoints points() const { return {cells, cell, Pointers(slots)}; }
  void Add(std::initializer_list<int64_t> row) {
    slots.resize(row.size());
    cell.push_back(static_cast<uint32_t>(cells - 1));
    size_t k = 0;
    for (const int64_t v : row) slots[k++].push_back(v);
  }
};

// c[i][j] = sum over k of a[i][k] b[k][j].
CellTerms ProductTerms(int64_t m, int64_t n, int64_t depth) {
  CellTerms terms;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      ++terms.cells;
      for (int64_t k = 0; k < depth; ++k) terms.Add({i, k, k, j});
    }
  return terms;
}
// y[i] = sum over taps of x[stride i + tap - 1] w[tap], inside n.
CellTerms ConvolutionTerms(int64_t n, int64_t out, int64_t stride) {
  CellTerms terms;
  for (int64_t i = 0; i < out; ++i) {
    ++terms.cells;
    for (int64_t tap = 0; tap < 3; ++tap)
      if (const int64_t at = stride * i + tap - 1; at >= 0 && at < n) terms.Add({at, tap});
  }
  return terms;
}

// y[i] = max over taps of x[2 i + 3 tap - 1], inside n.
CellTerms DilatedPoolTerms(int64_t n, int64_t out) {
  CellTerms terms;
  for (int64_t i = 0; i < out; ++i) {
    ++terms.cells;
    for (int64_t tap = 0; tap < 3; ++tap)
      if (const int64_t at = 2 * i + 3 * tap - 1; at >= 0 && at < n) terms.Add({at});
  }
  return terms;
}

struct CellRow {
  const char* name;
  CellTerms terms;
  std::vector<int64_t> cell_extents, counter_extents;
};
class CellCoordinatesFound : public testing::TestWithParam<CellRow> {};

TEST_P(CellCoordinatesFound, AreFound) {
  const CellPoints points = GetParam().terms.points();
  const auto coordinates = ChooseCoordinates(points);
  ASSERT_TRUE(coordinates) << coordinates.error();
  EXPECT_EQ(coordinates->extents, GetParam().cell_extents);
  std::vector<Column> by_row;
  for (const Column& column : coordinates->of_cell) {
    by_row.emplace_back();
    for (const uint32_t c : points.cell) by_row.back().push_back(column[c]);
  }
  const auto counters = ChooseCounters(points, Pointers(by_row));
  ASSERT_TRUE(counters) << counters.error();
  EXPECT_EQ(counters->extents, GetParam().counter_extents);
}
INSTANTIATE_TEST_SUITE_P(All, CellCoordinatesFound,
                         testing::Values(CellRow{"product", ProductTerms(3, 4, 5), {3, 4}, {5}},
                                         CellRow{"dot", ProductTerms(1, 1, 5), {}, {5}},
                                         CellRow{"dilatedPool", DilatedPoolTerms(17, 7), {7}, {3}},
                                         CellRow{"convolution", ConvolutionTerms(9, 9, 1), {9}, {3}},
                                         CellRow{"strided", ConvolutionTerms(9, 5, 2), {5}, {3}}),
                         [](const auto& info) { return info.param.name; });

TEST(Counters, TermsThatReadTheSameAreNotToldApart) {
  CellTerms terms;
  ++terms.cells;
  terms.Add({1, 1});
  terms.Add({1, 1});
  EXPECT_FALSE(ChooseCounters(terms.points(), {}));
}

struct DomainRow {
  const char* name;
  std::function<bool(int64_t, int64_t)> inside;
  bool explained;
  size_t guards;
};
class Domains : public testing::TestWithParam<DomainRow> {};

// Of a box of 10^12 points nothing can be counted: no explanation, at once.
TEST(DomainsOfManyPoints, AreNotExplained) {
  constexpr int64_t kExtent = 10'000;
  const std::vector<Column> points = {{0, 1, kExtent - 1}, {0, 2, kExtent - 1}, {0, 1, kExtent - 1}};
  EXPECT_FALSE(ExplainDomain(Pointers(points), 0, {kExtent, kExtent, kExtent}, {}));
}

TEST_P(Domains, AreBoxesWithGuards) {
  constexpr int64_t kRows = 6, kColumns = 8;
  std::vector<Column> points(2);
  for (int64_t a = 0; a < kRows; ++a)
    for (int64_t b = 0; b < kColumns; ++b)
      if (GetParam().inside(a, b)) {
        points[0].push_back(a);
        points[1].push_back(b);
      }
  const auto guards = ExplainDomain(Pointers(points), 0, {kRows, kColumns}, {});
  ASSERT_EQ(guards.has_value(), GetParam().explained);
  if (!guards) return;
  EXPECT_EQ(guards->size(), GetParam().guards);
  for (int64_t a = 0; a < kRows; ++a)
    for (int64_t b = 0; b < kColumns; ++b) {
      bool holds = true;
      for (const IntegerGuard& guard : *guards) {
        const int64_t v = guard.value.Numerator([&](size_t k) { return k == 0 ? a : b; });
        holds &= (!guard.has_low || v >= guard.low) && (!guard.has_high || v < guard.high);
      }
      EXPECT_EQ(holds, GetParam().inside(a, b)) << a << ' ' << b;
    }
}
INSTANTIATE_TEST_SUITE_P(
    All, Domains,
    testing::Values(DomainRow{"box", [](int64_t, int64_t) { return true; }, true, 0},
                    DomainRow{"triangle", [](int64_t a, int64_t b) { return b <= a; }, true, 1},
                    DomainRow{"band", [](int64_t a, int64_t b) { return b - a >= -1 && b - a <= 2; }, true, 1},
                    DomainRow{"groups", [](int64_t a, int64_t b) { return b <= a % 3 + 1; }, true, 1},
                    DomainRow{"hole", [](int64_t a, int64_t b) { return a != 3 || b != 4; }, false, 0}),
    [](const auto& info) { return info.param.name; });

// y[i] = sum over positions of w[i - position] x[position], of three taps: as many terms as the shorter of both has.
TEST(Counters, AsTheyStandDoNotFollowTheExtents) {
  for (const int64_t n : {2, 3, 5}) {
    CellTerms terms;
    Column output;
    for (int64_t i = 0; i < n + 2; ++i) {
      ++terms.cells;
      for (int64_t tap = 0; tap < 3; ++tap)
        if (i - tap >= 0 && i - tap < n) terms.Add({tap, i - tap}), output.push_back(i);
    }
    const auto shorter = ChooseCounters(terms.points(), {&output});
    const auto taps = ChooseCounters(terms.points(), {&output}, CounterOrder::kAsTheyStand);
    ASSERT_TRUE(shorter && taps);
    EXPECT_EQ(shorter->extents, std::vector<int64_t>{std::min<int64_t>(n, 3)});
    EXPECT_EQ(taps->extents, std::vector<int64_t>{3});
  }
}

}  // namespace
}  // namespace warpwright::lift
