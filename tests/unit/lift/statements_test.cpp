// From expressions of all elements to statements: walked in lockstep, fitted at one shape, unified over several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/computation_evaluate.h"
#include "core/computation_text.h"
#include "lift/concrete_form.h"
#include "lift/form_structure.h"
#include "lift/skeleton.h"
#include "lift/unify.h"

namespace warpwright::lift {
namespace {

using core::Function;

// x[n][m] and w[m] into out, whose elements are made one by one.
struct Grid {
  int64_t n = 0, m = 0;
  FormGraph* forms = nullptr;
  FormId X(int64_t i, int64_t k) const { return forms->Load(0, i * m + k); }
  FormId W(int64_t k) const { return forms->Load(1, k); }
  FormId Sum(const std::vector<FormId>& args) const {
    std::vector<FormTerm> terms;
    for (const FormId id : args) terms.push_back({id, 1});
    return forms->Linear(0, terms);
  }
  FormId Times(double c, FormId id) const { return forms->Linear(0, {{id, c}}); }
  FormId Product(FormId a, FormId b) const { return forms->Product({{a, 1}, {b, 1}}); }
};
using GridElement = std::function<FormId(const Grid&, int64_t i, int64_t k)>;  // 0: not written

std::vector<std::vector<core::Size>> GridDimensions() {
  const core::Size n = core::Size::Parse("n").value(), m = core::Size::Parse("m").value();
  return {{n, m}, {m}, {n, m}};
}

Fitted<ConcreteForm> FormOf(FormGraph& forms, const Grid& shape, const GridElement& element) {
  ConcreteRequest request{.forms = forms, .buffers = {}, .scalars = {}};
  request.buffers = {{.name = "x", .shape = {shape.n, shape.m}},
                     {.name = "w", .shape = {shape.m}},
                     {.name = "out", .shape = {shape.n, shape.m}}};
  for (int64_t i = 0; i < shape.n; ++i)
    for (int64_t k = 0; k < shape.m; ++k) request.buffers[2].elements.push_back(element(shape, i, k));
  return MakeConcreteForm(request);
}

// Values of leaves: those that the evaluator is given.
constexpr double kLargestLeaf = 51;
double XAt(int64_t element) { return 0.25 + 0.5 * static_cast<double>(element * 37 % 101); }
double WAt(int64_t element) { return 1.5 - 0.125 * static_cast<double>(element * 13 % 29); }
double FormValue(const FormGraph& forms, FormId id) {
  const FormNode& node = forms[id];
  std::vector<double> args;
  double sum = node.value, product = 1;
  for (const FormTerm& term : forms.terms(id)) {
    args.push_back(FormValue(forms, term.node));
    sum += term.coefficient * args.back();
    product *= std::pow(args.back(), term.coefficient);
  }
  switch (node.op) {
    case FormOp::kConstant: return node.value;
    case FormOp::kLoad: return node.buffer == 0 ? XAt(node.element) : WAt(node.element);
    case FormOp::kLinear: return sum;
    case FormOp::kProduct: return product;
    case FormOp::kMax: return *std::max_element(args.begin(), args.end());
    case FormOp::kMin: return *std::min_element(args.begin(), args.end());
    case FormOp::kCall:
      return node.mode == static_cast<uint8_t>(Function::kSin) ? std::sin(args[0]) : std::exp(args[0]);
    default: ADD_FAILURE() << "an operation that this test does not know"; return 0;
  }
}

void ExpectValues(const core::Computation& computation, const Grid& shape, const GridElement& element) {
  FormGraph forms(1'000'000);
  Grid at = shape;
  at.forms = &forms;
  const core::Sizes sizes = {{"n", shape.n}, {"m", shape.m}};
  const auto evaluator = core::ComputationEvaluator::Compile(computation, sizes, {});
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  std::vector<double> x, w;
  for (int64_t e = 0; e < shape.n * shape.m; ++e) x.push_back(XAt(e));
  for (int64_t e = 0; e < shape.m; ++e) w.push_back(WAt(e));
  const auto results = evaluator->Run({.scalars = {}, .tensors = {{"x", {x, {}}}, {"w", {w, {}}}}});
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 1u);
  for (int64_t i = 0; i < shape.n; ++i)
    for (int64_t k = 0; k < shape.m; ++k) {
      const FormId id = element(at, i, k);
      const auto e = static_cast<size_t>(i * shape.m + k);
      ASSERT_EQ((*results)[0].written[e] != 0, id != 0);
      if (id == 0) continue;
      const double expected = FormValue(forms, id);
      // Literals have seven digits, and differences of large terms may be small.
      ASSERT_NEAR((*results)[0].real[e], expected, 1e-6 * (std::fabs(expected) + kLargestLeaf));
    }
}

struct StatementRow {
  const char* name;
  GridElement element;
};
class Statements : public testing::TestWithParam<StatementRow> {};

// One form from three shapes has the values of every element at those and at a fourth.
TEST_P(Statements, HoldAtFurtherShapes) {
  std::vector<FormAtShape> at;
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{5, 7}, {8, 6}, {6, 11}}) {
    FormGraph forms(1'000'000);
    const Grid shape{n, m, &forms};
    auto form = FormOf(forms, shape, GetParam().element);
    ASSERT_TRUE(form) << form.error();
    at.push_back({.sizes = {{"n", n}, {"m", m}}, .reals = {}, .form = std::move(*form)});
    EXPECT_EQ(StructureOf(at[0].form.computation), StructureOf(at.back().form.computation));
  }
  auto unified = Unify(at, GridDimensions(), {"m", "n"});
  ASSERT_TRUE(unified) << unified.error();
  unified->sizes = {"m", "n"};
  for (core::TensorArgument& tensor : unified->tensors) tensor.read = !tensor.written;
  ASSERT_TRUE(core::Validate(*unified)) << core::Validate(*unified).error().message;
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{5, 7}, {9, 4}, {4, 13}})
    ExpectValues(*unified, {n, m}, GetParam().element);
}
// Of a transposed convolution of stride two, with taps so far apart, and their first one here.
GridElement TransposedConvolution(int64_t apart, int64_t first) {
  return [=](const Grid& s, int64_t i, int64_t k) {
    std::vector<FormId> terms;
    for (int64_t tap = 0; tap < 4; ++tap)
      if (const int64_t at = k + first - apart * tap; at >= 0 && at % 2 == 0 && at / 2 < s.m)
        terms.push_back(s.Product(s.X(i, at / 2), s.W(tap)));
    return terms.size() == 1 ? s.forms->SumOfOne(terms[0]) : s.Sum(terms);
  };
}

// Positions that no tap reaches are sums of nothing: a statement of their own would be another one at other strides.
TEST(StatementsOfEmptySums, AreOneWithTheOthers) {
  for (const auto& [apart, first] : {std::pair<int64_t, int64_t>{3, 1}, {2, 0}, {2, 1}, {4, 2}}) {
    SCOPED_TRACE(apart);
    const GridElement element = TransposedConvolution(apart, first);
    FormGraph forms(1'000'000);
    const Grid shape{5, 11, &forms};
    const auto form = FormOf(forms, shape, element);
    ASSERT_TRUE(form) << form.error();
    size_t outputs = 0;
    for (const core::Stage& stage : form->computation.stages) outputs += stage.output ? 1 : 0;
    EXPECT_EQ(outputs, 1u) << core::ComputationText(form->computation);
    ExpectValues(form->computation, {5, 11}, element);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Statements,
    testing::Values(
        StatementRow{"Map", [](const Grid& s, int64_t i, int64_t k) { return s.Sum({s.X(i, k), s.Times(2, s.W(k))}); }},
        StatementRow{"MeanOfTheInside",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t a = 0; a + 1 < s.n; ++a)
                         for (int64_t b = 0; b + 2 < s.m; ++b) terms.push_back(s.X(a, b));
                       const double terms_of_mean = static_cast<double>((s.n - 1) * (s.m - 2));
                       return s.Product(s.X(i, k), s.Times(0.7 / terms_of_mean, s.Sum(terms)));
                     }},
        StatementRow{"RowSum",
                     [](const Grid& s, int64_t i, int64_t) {
                       std::vector<FormId> terms;
                       for (int64_t k = 0; k < s.m; ++k) terms.push_back(s.Product(s.X(i, k), s.W(k)));
                       return s.Sum(terms);
                     }},
        StatementRow{"MeanAndDifference",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t j = 0; j < s.m; ++j) terms.push_back(s.X(i, j));
                       return s.Sum({s.X(i, k), s.Times(-1 / static_cast<double>(s.m), s.Sum(terms))});
                     }},
        StatementRow{"Softmax",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> all, exps;
                       for (int64_t j = 0; j < s.m; ++j) all.push_back(s.X(i, j));
                       const FormId top = s.forms->Extremum(FormOp::kMax, all);
                       const auto of = [&](FormId x) {
                         return s.forms->Call(Function::kExp, {s.forms->Linear(0, {{x, 1}, {top, -1}})});
                       };
                       for (const FormId x : all) exps.push_back(of(x));
                       return s.forms->Product({{of(s.X(i, k)), 1}, {s.Sum(exps), -1}});
                     }},
        StatementRow{"Transform",  // whose sums read the same for all k
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t j = 0; j < s.m; ++j) {
                         const FormId angle = s.forms->Constant(0.25 * static_cast<double>(j * k));
                         terms.push_back(s.Product(s.X(i, j), s.forms->Call(Function::kSin, {angle})));
                       }
                       return s.Sum(terms);
                     }},
        StatementRow{"PrefixSum",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t j = 0; j <= k; ++j) terms.push_back(s.X(i, j));
                       return s.forms->OfOne(FormOp::kLinear, s.Sum(terms));
                     }},
        StatementRow{"Recurrence",  // h = w h + x, all of which is read
                     [](const Grid& s, int64_t i, int64_t k) {
                       s.forms->Expand();
                       FormId h = s.X(i, 0);
                       for (int64_t j = 1; j <= k; ++j) h = s.Sum({s.Product(s.W(j), h), s.X(i, j)});
                       return h;
                     }},
        StatementRow{"WithoutItself",  // a term that is zero whatever x is
                     [](const Grid& s, int64_t i, int64_t k) {
                       s.forms->KeepSigns();
                       std::vector<FormId> terms;
                       for (int64_t j = 0; j < s.m; ++j)
                         terms.push_back(s.Product(s.W(j), s.Sum({s.X(i, j), s.Times(-1, s.X(i, k))})));
                       return s.Sum(terms);
                     }},
        StatementRow{"BothWaysRound",  // and the square of the middle one
                     [](const Grid& s, int64_t i, int64_t k) {
                       s.forms->KeepOrder();
                       return s.Product(s.X(i, k), s.X(s.n - 1 - i, k));
                     }},
        StatementRow{"Median",  // of three, at the sides of two equal ones: no reduction is half of a sorting network
                     [](const Grid& s, int64_t i, int64_t k) {
                       const FormId a = s.X(i, std::max<int64_t>(k - 1, 0)), b = s.X(i, k),
                                    c = s.X(i, std::min(k + 1, s.m - 1));
                       const FormId low = s.forms->Extremum(FormOp::kMin, {a, b}),
                                    high = s.forms->Extremum(FormOp::kMax, {a, b});
                       return s.forms->Extremum(FormOp::kMax, {low, s.forms->Extremum(FormOp::kMin, {high, c})});
                     }},
        StatementRow{"Nearest", [](const Grid& s, int64_t i, int64_t) { return s.W(i * s.m / s.n); }},
        StatementRow{"Shift", [](const Grid& s, int64_t i, int64_t k) { return k > 0 ? s.X(i, k - 1) : FormId{0}; }},
        StatementRow{"Reversal", [](const Grid& s, int64_t i, int64_t k) { return s.X(s.n - 1 - i, k); }},
        StatementRow{"Reflection", [](const Grid& s, int64_t i, int64_t k) { return s.X(i, std::abs(k - 2)); }},
        StatementRow{"MeanOfWhatIsInside",  // of a pool that does not count its padding
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t a = std::max<int64_t>(i - 1, 0); a < std::min(i + 2, s.n); ++a)
                         for (int64_t b = std::max<int64_t>(k - 1, 0); b < std::min(k + 2, s.m); ++b)
                           terms.push_back(s.X(a, b));
                       return s.Times(1.0 / static_cast<double>(terms.size()), s.Sum(terms));
                     }},
        StatementRow{"ReplicatePadding",  // of a filter whose taps are one dimension
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t tap = 0; tap < 9; ++tap)
                         terms.push_back(
                             s.Product(s.W(tap % 4), s.X(std::clamp<int64_t>(i + tap / 3 - 1, 0, s.n - 1),
                                                         std::clamp<int64_t>(k + tap % 3 - 1, 0, s.m - 1))));
                       return s.Sum(terms);
                     }},
        StatementRow{"ReflectPadding",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t tap = 0; tap < 4; ++tap) {
                         const int64_t at = std::abs(k + tap - 1);
                         terms.push_back(s.Product(s.W(tap), s.X(i, std::min(at, 2 * (s.m - 1) - at))));
                       }
                       return s.Sum(terms);
                     }},
        StatementRow{"CircularPadding",
                     [](const Grid& s, int64_t i, int64_t k) {
                       std::vector<FormId> terms;
                       for (int64_t tap = 0; tap < 3; ++tap)
                         terms.push_back(s.Product(s.W(tap), s.X(i, (k + tap + s.m - 1) % s.m)));
                       return s.Sum(terms);
                     }},
        StatementRow{"Rotation", [](const Grid& s, int64_t i, int64_t k) { return s.X(i, (k + s.m - 4) % s.m); }},
        StatementRow{"Frame",
                     [](const Grid& s, int64_t i, int64_t k) {
                       const bool inside = i >= 2 && k >= 1 && k < s.m - 2;
                       return inside ? s.X(i - 2, k - 1) : s.forms->Constant(0.5);
                     }},
        StatementRow{"Corners",  // two opposite ones are alike, and so are the other two
                     [](const Grid& s, int64_t i, int64_t k) {
                       const bool first = i == 0, last = i == s.n - 1, left = k == 0, right = k == s.m - 1;
                       if ((!first && !last) || (!left && !right)) return s.X(i, k);
                       return first == left ? s.Product(s.X(i, k), s.W(k)) : s.Sum({s.X(i, k), s.W(k)});
                     }},
        StatementRow{"Triangle", [](const Grid& s, int64_t i, int64_t k) { return k <= i ? s.X(i, k) : FormId{0}; }},
        StatementRow{"Ramp", [](const Grid& s, int64_t i,
                                int64_t k) { return s.Times(0.5 * static_cast<double>(k) + 1, s.X(i, k)); }}),
    [](const auto& info) { return info.param.name; });

TEST(ConcreteForm, WhatSharesALotEndsInTime) {
  // A tree of 2^30 nodes by sharing.
  FormGraph forms(1'000'000);
  const Grid shape{2, 3, &forms};
  const auto form = FormOf(forms, shape, [](const Grid& s, int64_t i, int64_t k) {
    FormId id = s.X(i, k);
    for (int step = 0; step < 30; ++step)
      id = s.forms->Call(Function::kHypot, {id, s.forms->Call(Function::kTanh, {id})});
    return id;
  });
  EXPECT_FALSE(form);
}

TEST(Lockstep, DifferentStructuresDoNotWalkTogether) {
  FormGraph forms(1'000'000);
  CellStore cells;
  const WrittenOut none;
  const std::vector<FormId> rows = {forms.Load(0, 1), forms.Load(1, 1)};
  EXPECT_FALSE(Lockstep(forms, cells, none).Walk(rows));
  const std::vector<FormId> same = {forms.Load(0, 1), forms.Load(0, 5)};
  const auto walked = Lockstep(forms, cells, none).Walk(same);
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->elements, (Column{1, 5}));
}

TEST(Unify, DifferentStructuresAreSaid) {
  std::vector<FormAtShape> at;
  for (const int64_t n : {4, 6}) {
    FormGraph forms(1'000'000);
    const Grid shape{n, 5, &forms};
    auto form = FormOf(forms, shape, [n](const Grid& s, int64_t i, int64_t k) {
      return n == 4 ? s.X(i, k) : s.Sum({s.X(i, k), s.W(k)});
    });
    ASSERT_TRUE(form);
    at.push_back({.sizes = {{"n", n}, {"m", 5}}, .reals = {}, .form = std::move(*form)});
  }
  EXPECT_NE(StructureOf(at[0].form.computation), StructureOf(at[1].form.computation));
  EXPECT_FALSE(Unify(at, GridDimensions(), {}));
}

struct ExtentRow {
  const char* name;
  std::vector<std::pair<int64_t, int64_t>> shapes;  // n, m
  std::set<std::string> varying;
  GridElement element;
  std::vector<std::string> extents;
};
class Extents : public testing::TestWithParam<ExtentRow> {};

// Of several expressions with the same values, that of the dimension which is indexed.
TEST_P(Extents, AreOfWhatIsIndexed) {
  std::vector<FormAtShape> at;
  for (const auto& [n, m] : GetParam().shapes) {
    FormGraph forms(1'000'000);
    auto form = FormOf(forms, {n, m, &forms}, GetParam().element);
    ASSERT_TRUE(form) << form.error();
    at.push_back({.sizes = {{"n", n}, {"m", m}}, .reals = {}, .form = std::move(*form)});
  }
  const auto unified = Unify(at, GridDimensions(), GetParam().varying);
  ASSERT_TRUE(unified) << unified.error();
  std::vector<std::string> extents;
  for (const core::Size& extent : unified->stages.back().extents) extents.push_back(extent.text());
  EXPECT_EQ(extents, GetParam().extents);
}
GridElement PairsOf(int64_t size) {
  return [size](const Grid& s, int64_t i, int64_t k) { return k < s.m / size * size ? s.X(i, k) : FormId{0}; };
}
INSTANTIATE_TEST_SUITE_P(
    All, Extents,
    testing::Values(
        ExtentRow{"OneNumberAtTheseShapesAlone", {{4, 5}, {4, 7}, {4, 9}}, {"m", "n"}, PairsOf(1), {"n", "m"}},
        ExtentRow{"OneNumberEverywhere", {{4, 5}, {4, 7}, {4, 9}}, {"m"}, PairsOf(1), {"4", "m"}},
        ExtentRow{"WholePairsAndTwiceTheRows", {{3, 9}, {2, 7}, {2, 6}}, {"m", "n"}, PairsOf(2), {"n", "m / 2 * 2"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warpwright::lift
