// What is brought into one form, and what is not.
#include "lift/form_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace warpwright::lift {
namespace {

using core::Comparison;
using core::Function;

struct Formulas {
  FormGraph graph{1'000'000};

  FormId X(int64_t element) { return graph.Load(0, element); }
  FormId I(int64_t element) { return graph.Load(1, element); }
  FormId C(double value) { return graph.Constant(value); }
  FormId Sum(const std::vector<FormId>& args) {
    std::vector<FormTerm> terms;
    for (const FormId id : args) terms.push_back({id, 1});
    return graph.Linear(0, terms);
  }
  FormId Times(double factor, FormId id) { return graph.Linear(0, {{id, factor}}); }
  FormId Minus(FormId a, FormId b) { return graph.Linear(0, {{a, 1}, {b, -1}}); }
  FormId Product(FormId a, FormId b) { return graph.Product({{a, 1}, {b, 1}}); }
  FormId Square(FormId a) { return graph.Product({{a, 2}}); }
  FormId Exp(FormId a) { return graph.Call(Function::kExp, {a}); }
  FormId Max(FormId a, FormId b) { return graph.Extremum(FormOp::kMax, {a, b}); }
  FormId Less(FormId a, FormId b) { return graph.Compare(Comparison::kLess, a, b); }
  FormId Equal(FormId a, FormId b) { return graph.Compare(Comparison::kEqual, a, b); }
  FormId And(FormId a, FormId b) { return graph.Logic(FormOp::kAnd, {a, b}); }
  FormId Or(FormId a, FormId b) { return graph.Logic(FormOp::kOr, {a, b}); }

  // Of n elements from `first` on: the mean and the sum of squares of the differences, by Welford's update.
  std::pair<FormId, FormId> Welford(int64_t first, int64_t n) {
    FormId mean = C(0), squares = C(0);
    for (int64_t k = 0; k < n; ++k) {
      const double count = static_cast<double>(k) + 1;
      const FormId delta = Minus(X(first + k), mean);
      mean = Sum({mean, Times(1 / count, delta)});
      squares = Sum({squares, Product(delta, Minus(X(first + k), mean))});
    }
    return {mean, squares};
  }
  FormId Mean(int64_t n) {
    std::vector<FormId> all;
    for (int64_t k = 0; k < n; ++k) all.push_back(X(k));
    return Times(1 / static_cast<double>(n), Sum(all));
  }
  FormId Squares(int64_t n) {
    std::vector<FormId> all;
    for (int64_t k = 0; k < n; ++k) all.push_back(Square(Minus(X(k), Mean(n))));
    return Sum(all);
  }
};

struct FormRow {
  const char* name;
  std::function<FormId(Formulas&)> left, right;
  bool same = true;
};
class Forms : public testing::TestWithParam<FormRow> {};

TEST_P(Forms, AreOneOrTwo) {
  Formulas maker;
  maker.graph.SetIntegerBuffers({false, true});
  EXPECT_EQ(GetParam().left(maker) == GetParam().right(maker), GetParam().same);
}

INSTANTIATE_TEST_SUITE_P(
    Sums, Forms,
    testing::Values(
        FormRow{"Order", [](Formulas& m) { return m.Sum({m.X(0), m.X(1), m.X(2)}); },
                [](Formulas& m) { return m.Sum({m.X(2), m.Sum({m.X(1), m.X(0)})}); }},
        FormRow{"Cancellation", [](Formulas& m) { return m.Minus(m.Sum({m.X(0), m.X(1)}), m.X(0)); },
                [](Formulas& m) { return m.X(1); }},
        FormRow{"Quotient", [](Formulas& m) { return m.graph.Product({{m.X(0), 1}, {m.X(1), -1}}); },
                [](Formulas& m) { return m.Product(m.X(0), m.graph.Call(Function::kReciprocal, {m.X(1)})); }},
        FormRow{"RunningMean", [](Formulas& m) { return m.Welford(0, 7).first; },
                [](Formulas& m) { return m.Mean(7); }},
        FormRow{"WeightOfAMaskedScore", [](Formulas& m) { return m.Exp(m.Sum({m.X(0), m.C(-INFINITY)})); },
                [](Formulas& m) { return m.C(0); }},
        FormRow{"MaskedByTheLowestNumber", [](Formulas& m) { return m.Exp(m.Minus(m.C(-3.4e38), m.X(0))); },
                [](Formulas& m) { return m.C(0); }},
        FormRow{"DataBesideALargeNumber", [](Formulas& m) { return m.Sum({m.X(0), m.C(-1e9)}); },
                [](Formulas& m) { return m.C(-1e9); }, false},
        FormRow{"MeanOfFewer", [](Formulas& m) { return m.Welford(0, 6).first; }, [](Formulas& m) { return m.Mean(7); },
                false},
        FormRow{"RunningSquares", [](Formulas& m) { return m.Welford(0, 7).second; },
                [](Formulas& m) { return m.Squares(7); }},
        FormRow{"MergedSquares",
                [](Formulas& m) {
                  const auto [mean_a, squares_a] = m.Welford(0, 3);
                  const auto [mean_b, squares_b] = m.Welford(3, 5);
                  return m.Sum({squares_a, squares_b, m.Times(3.0 * 5 / 8, m.Square(m.Minus(mean_b, mean_a)))});
                },
                [](Formulas& m) { return m.Squares(8); }},
        FormRow{"WrongWeightOfMerge",
                [](Formulas& m) {
                  const auto [mean_a, squares_a] = m.Welford(0, 3);
                  const auto [mean_b, squares_b] = m.Welford(3, 5);
                  return m.Sum({squares_a, squares_b, m.Times(3.0 * 4 / 8, m.Square(m.Minus(mean_b, mean_a)))});
                },
                [](Formulas& m) { return m.Squares(8); }, false},
        FormRow{"OnePassVarianceIsAnother",
                [](Formulas& m) {
                  std::vector<FormId> squares;
                  for (int64_t k = 0; k < 5; ++k) squares.push_back(m.Square(m.X(k)));
                  return m.Minus(m.Sum(squares), m.Times(5, m.Square(m.Mean(5))));
                },
                [](Formulas& m) { return m.Squares(5); }, false}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Exponentials, Forms,
    testing::Values(
        FormRow{"ProductOfTwo", [](Formulas& m) { return m.Product(m.Exp(m.X(0)), m.Exp(m.X(1))); },
                [](Formulas& m) { return m.Exp(m.Sum({m.X(0), m.X(1)})); }},
        FormRow{"Quotient", [](Formulas& m) { return m.graph.Product({{m.Exp(m.X(0)), 1}, {m.Exp(m.X(1)), -1}}); },
                [](Formulas& m) { return m.Exp(m.Minus(m.X(0), m.X(1))); }},
        FormRow{"RescaledSum",
                [](Formulas& m) {
                  const FormId two = m.Max(m.X(0), m.X(1)), three = m.Max(two, m.X(2));
                  const FormId sum = m.Sum({m.Exp(m.Minus(m.X(0), two)), m.Exp(m.Minus(m.X(1), two))});
                  return m.Sum({m.Product(sum, m.Exp(m.Minus(two, three))), m.Exp(m.Minus(m.X(2), three))});
                },
                [](Formulas& m) {
                  const FormId three = m.Max(m.Max(m.X(0), m.X(1)), m.X(2));
                  return m.Sum(
                      {m.Exp(m.Minus(m.X(0), three)), m.Exp(m.Minus(m.X(1), three)), m.Exp(m.Minus(m.X(2), three))});
                }},
        FormRow{"SumsOfOtherThingsStay", [](Formulas& m) { return m.Product(m.Sum({m.X(0), m.X(1)}), m.Exp(m.X(2))); },
                [](Formulas& m) { return m.Sum({m.Product(m.X(0), m.Exp(m.X(2))), m.Product(m.X(1), m.Exp(m.X(2)))}); },
                false},
        FormRow{"SumIsNotZero",
                [](Formulas& m) {
                  return m.graph.Select(m.Equal(m.Sum({m.Exp(m.X(0)), m.Exp(m.X(1))}), m.C(0)), m.C(0), m.X(2));
                },
                [](Formulas& m) { return m.X(2); }},
        FormRow{"DifferenceMayBeZero",
                [](Formulas& m) {
                  return m.graph.Select(m.Equal(m.Minus(m.Exp(m.X(0)), m.Exp(m.X(1))), m.C(0)), m.C(0), m.X(2));
                },
                [](Formulas& m) { return m.X(2); }, false},
        FormRow{"BaseTwo", [](Formulas& m) { return m.graph.Call(Function::kExp2, {m.Times(1.442695, m.X(0))}); },
                [](Formulas& m) { return m.Exp(m.X(0)); }}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Choices, Forms,
    testing::Values(
        FormRow{"Maximum", [](Formulas& m) { return m.graph.Select(m.Less(m.X(0), m.X(1)), m.X(1), m.X(0)); },
                [](Formulas& m) { return m.Max(m.X(0), m.X(1)); }},
        FormRow{"LessOrEqual", [](Formulas& m) { return m.Or(m.Less(m.X(0), m.X(1)), m.Equal(m.X(1), m.X(0))); },
                [](Formulas& m) { return m.graph.Compare(Comparison::kLessEqual, m.X(0), m.X(1)); }},
        FormRow{"CountOfTwo",
                [](Formulas& m) {
                  const FormId a = m.Equal(m.I(0), m.C(3)), b = m.Equal(m.I(1), m.C(3));
                  return m.graph.Select(b, m.graph.Select(a, m.C(2), m.C(1)), m.graph.Select(a, m.C(1), m.C(0)));
                },
                [](Formulas& m) {
                  const FormId a = m.Equal(m.I(0), m.C(3)), b = m.Equal(m.I(1), m.C(3));
                  return m.Sum({m.graph.Select(a, m.C(1), m.C(0)), m.graph.Select(b, m.C(1), m.C(0))});
                }},
        FormRow{"ArgMaximumByTies",  // of {0, 2} and {1, 3}, the lower index wins
                [](Formulas& m) {
                  const FormId a = m.graph.Select(m.Less(m.X(0), m.X(2)), m.C(2), m.C(0));
                  const FormId b = m.graph.Select(m.Less(m.X(1), m.X(3)), m.C(3), m.C(1));
                  const FormId va = m.Max(m.X(0), m.X(2)), vb = m.Max(m.X(1), m.X(3));
                  return m.graph.Select(m.Or(m.Less(va, vb), m.And(m.Equal(va, vb), m.Less(b, a))), b, a);
                },
                [](Formulas& m) {
                  FormId value = m.X(0), index = m.C(0);
                  for (int64_t k = 1; k < 4; ++k) {
                    index = m.graph.Select(m.Less(value, m.X(k)), m.C(static_cast<double>(k)), index);
                    value = m.Max(value, m.X(k));
                  }
                  return index;
                }},
        FormRow{"ArgMinimumByTree",  // what is first read as the position of the larger of two, with indices exchanged
                [](Formulas& m) {
                  const auto nearer = [&m](std::pair<FormId, FormId> a, std::pair<FormId, FormId> b) {
                    const FormId less = m.Less(b.first, a.first);
                    return std::pair(m.graph.Select(less, b.first, a.first), m.graph.Select(less, b.second, a.second));
                  };
                  const auto at = [&m](int64_t k) { return std::pair(m.X(k), m.C(static_cast<double>(k))); };
                  return nearer(nearer(at(0), at(1)), nearer(at(2), at(3))).second;
                },
                [](Formulas& m) {
                  FormId value = m.X(0), index = m.C(0);
                  for (int64_t k = 1; k < 4; ++k) {
                    const FormId less = m.Less(m.X(k), value);
                    index = m.graph.Select(less, m.C(static_cast<double>(k)), index);
                    value = m.graph.Select(less, m.X(k), value);
                  }
                  return index;
                }},
        FormRow{"ArgMinimumIsNotArgMaximum",
                [](Formulas& m) { return m.graph.Select(m.Less(m.X(1), m.X(0)), m.C(1), m.C(0)); },
                [](Formulas& m) { return m.graph.Select(m.Less(m.X(0), m.X(1)), m.C(1), m.C(0)); }, false},
        FormRow{"ArgMaximumOfTheLast",
                [](Formulas& m) { return m.graph.Select(m.Less(m.X(0), m.X(1)), m.C(1), m.C(0)); },
                [](Formulas& m) {
                  return m.graph.Select(m.graph.Compare(Comparison::kLessEqual, m.X(0), m.X(1)), m.C(1), m.C(0));
                },
                false}),
    [](const auto& info) { return info.param.name; });

TEST(FormGraph, SignatureDoesNotCountTerms) {
  Formulas m;
  // A copy: another formula may move the nodes.
  const auto signature = [&m](const std::vector<FormId>& terms) { return uint64_t{m.graph[m.Sum(terms)].signature}; };
  EXPECT_EQ(signature({m.X(0), m.X(1)}), signature({m.X(3), m.X(4), m.X(5)}));
  EXPECT_NE(signature({m.X(0), m.X(1)}), signature({m.X(0), m.I(1)}));
}

// Of (a + b) - (c + d) - e and its opposite, either may begin with a minus.
TEST(FormGraph, ADifferenceOfSumsHasOneOrientation) {
  for (int64_t order = 0; order < 6; ++order) {
    Formulas m;
    const auto sum = [&](FormId a, FormId b) { return m.Sum({a, b}); };
    const FormId x = sum(m.X(0), m.X(1)), i = sum(m.I(0), m.I(1)), e = sum(m.Exp(m.X(0)), m.Exp(m.X(1)));
    const std::vector<FormId> parts = order % 3 == 0   ? std::vector<FormId>{x, i, e}
                                      : order % 3 == 1 ? std::vector<FormId>{i, e, x}
                                                       : std::vector<FormId>{e, x, i};
    const double sign = order < 3 ? 1 : -1;
    const FormId difference = m.graph.Linear(0, {{parts[0], sign}, {parts[1], -sign}, {parts[2], -sign}});
    const FormId opposite = m.graph.Linear(0, {{parts[0], -sign}, {parts[1], sign}, {parts[2], sign}});
    EXPECT_EQ(m.Square(difference), m.Square(opposite));
  }
}

TEST(FormGraph, StopsAtItsLimit) {
  FormGraph graph(10);
  std::vector<FormTerm> terms;
  for (int64_t k = 0; k < 20; ++k) terms.push_back({graph.Load(0, k), 1});
  EXPECT_EQ(graph.Linear(0, terms), 0u);
  EXPECT_TRUE(graph.full());
}

// Steps of z = z^2 + c over scalars: every expression stands in the next one several times.
TEST(FormGraph, ExpandsWhatSharesItsPartsAtOnce) {
  Formulas f;
  f.graph.Expand();
  const FormId cx = f.graph.Scalar(0), cy = f.graph.Scalar(1);
  FormId x = cx, y = cy;
  for (int step = 0; step < 60; ++step) {
    const FormId next = f.graph.Linear(0, {{f.Square(x), 1}, {f.Square(y), -1}, {cx, 1}});
    y = f.graph.Linear(0, {{f.Product(x, y), 2}, {cy, 1}});
    x = next;
  }
  EXPECT_FALSE(f.graph[x].has_data);
}

}  // namespace
}  // namespace warpwright::lift
