// From expressions as they were executed to their one form.
#include "lift/canonical.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "lift/builder.h"

namespace warpwright::lift {
namespace {

using sim::Type;

struct ExprMaker {
  Graph graph{100'000};
  Builder b{graph};
  ExprId X(uint64_t element) {
    return b.Make({.op = ExprOp::kLoad, .type = Type::kF32, .buffer = 0, .payload = element}, 0x3f800000u);
  }
  // Of three integers and `first`, as an accumulator takes them.
  ExprId LeastInteger(ExprOp op, Type type, uint64_t first) {
    ExprId least = b.Const(type, first);
    for (uint64_t element = 0; element < 3; ++element)
      least = b.Binary(op, type, least,
                       b.Make({.op = ExprOp::kLoad, .type = type, .buffer = 1, .payload = element}, element + 5));
    return least;
  }
  ExprId C(float value) { return b.Const(Type::kF32, std::bit_cast<uint32_t>(value)); }
  ExprId Op(ExprOp op, ExprId x, ExprId y) { return b.Binary(op, Type::kF32, x, y); }
  ExprId Add(ExprId x, ExprId y) { return Op(ExprOp::kAdd, x, y); }
  ExprId Mul(ExprId x, ExprId y) { return Op(ExprOp::kMul, x, y); }
  ExprId Fma(ExprId x, ExprId y, ExprId z) {
    return b.Make({.op = ExprOp::kFma, .type = Type::kF32, .arity = 3, .args = {x, y, z}});
  }
};
struct CanonicalRow {
  const char* name;
  std::function<ExprId(ExprMaker&)> left, right;
  bool same = true;
};
class Canonical : public testing::TestWithParam<CanonicalRow> {};

TEST_P(Canonical, FormsAgreeOrNot) {
  ExprMaker maker;
  const std::vector<ExprId> roots = {GetParam().left(maker), GetParam().right(maker)};
  FormGraph forms(100'000);
  const CanonicalRoots canonical = Canonicalise(maker.graph, roots, forms);
  ASSERT_NE(canonical.forms[0], 0u);
  ASSERT_NE(canonical.forms[1], 0u);
  EXPECT_EQ(canonical.forms[0] == canonical.forms[1], GetParam().same);
}
INSTANTIATE_TEST_SUITE_P(
    All, Canonical,
    testing::Values(
        CanonicalRow{"FusedMultiplyAdd", [](ExprMaker& m) { return m.Fma(m.X(0), m.X(1), m.X(2)); },
                     [](ExprMaker& m) { return m.Add(m.X(2), m.Mul(m.X(1), m.X(0))); }},
        CanonicalRow{"TreeAndChain", [](ExprMaker& m) { return m.Add(m.Add(m.X(0), m.X(1)), m.Add(m.X(2), m.X(3))); },
                     [](ExprMaker& m) { return m.Add(m.X(3), m.Add(m.X(2), m.Add(m.X(1), m.X(0)))); }},
        CanonicalRow{"OtherElement", [](ExprMaker& m) { return m.Add(m.X(0), m.X(1)); },
                     [](ExprMaker& m) { return m.Add(m.X(0), m.X(2)); }, false},
        CanonicalRow{"OtherFactor", [](ExprMaker& m) { return m.Mul(m.C(2), m.X(0)); },
                     [](ExprMaker& m) { return m.Mul(m.C(2.001F), m.X(0)); }, false},
        CanonicalRow{"Division", [](ExprMaker& m) { return m.Op(ExprOp::kDiv, m.X(0), m.C(4)); },
                     [](ExprMaker& m) { return m.Mul(m.C(0.25F), m.X(0)); }},
        CanonicalRow{"MaximumOfThree",
                     [](ExprMaker& m) { return m.Op(ExprOp::kMax, m.X(0), m.Op(ExprOp::kMax, m.X(1), m.X(2))); },
                     [](ExprMaker& m) { return m.Op(ExprOp::kMax, m.Op(ExprOp::kMax, m.X(2), m.X(0)), m.X(1)); }},
        CanonicalRow{"IntegersBeginWithTheLargest",
                     [](ExprMaker& m) { return m.LeastInteger(ExprOp::kMin, Type::kS32, 0x7fffffff); },
                     [](ExprMaker& m) {
                       ExprId least = 0;
                       for (uint64_t element = 0; element < 3; ++element) {
                         const ExprId x =
                             m.b.Make({.op = ExprOp::kLoad, .type = Type::kS32, .buffer = 1, .payload = element}, 7);
                         least = element == 0 ? x : m.b.Binary(ExprOp::kMin, Type::kS32, x, least);
                       }
                       return least;
                     }},
        CanonicalRow{"SignedAndUnsignedBeginnings",
                     [](ExprMaker& m) { return m.LeastInteger(ExprOp::kMax, Type::kS32, 0x80000000u); },
                     [](ExprMaker& m) { return m.LeastInteger(ExprOp::kMax, Type::kU32, 0); }},
        CanonicalRow{"AnotherBeginningCounts",
                     [](ExprMaker& m) { return m.LeastInteger(ExprOp::kMin, Type::kS32, 0x7fffffff); },
                     [](ExprMaker& m) { return m.LeastInteger(ExprOp::kMin, Type::kS32, 0x7ffffffe); }, false},
        CanonicalRow{"AtomicMaximumOfFloats",
                     [](ExprMaker& m) {
                       const ExprId p = m.b.Compare(sim::Compare::kGe, Type::kF32, m.X(1), m.C(0));
                       return m.b.Select(Type::kB32, p, m.b.Binary(ExprOp::kMax, Type::kS32, m.X(0), m.X(1)),
                                         m.b.Binary(ExprOp::kMin, Type::kU32, m.X(0), m.X(1)));
                     },
                     [](ExprMaker& m) { return m.Op(ExprOp::kMax, m.X(0), m.X(1)); }},
        CanonicalRow{
            "AtomicMaximumOfMagnitudes",
            [](ExprMaker& m) {
              const ExprId a = m.b.Unary(ExprOp::kAbs, Type::kF32, m.X(1));
              return m.b.Binary(ExprOp::kMax, Type::kS32, m.X(0), a);
            },
            [](ExprMaker& m) { return m.Op(ExprOp::kMax, m.X(0), m.b.Unary(ExprOp::kAbs, Type::kF32, m.X(1))); }},
        CanonicalRow{"ConditionalStep",
                     [](ExprMaker& m) {
                       const ExprId p = m.b.Compare(sim::Compare::kLt, Type::kF32, m.X(1), m.X(2));
                       return m.b.Select(Type::kF32, p, m.Add(m.X(0), m.X(3)), m.X(0));
                     },
                     [](ExprMaker& m) {
                       const ExprId p = m.b.Compare(sim::Compare::kLt, Type::kF32, m.X(1), m.X(2));
                       return m.Add(m.X(0), m.b.Select(Type::kF32, p, m.X(3), m.C(0)));
                     }},
        CanonicalRow{
            "OppositeComparison",
            [](ExprMaker& m) {
              return m.b.Select(Type::kF32, m.b.Compare(sim::Compare::kGe, Type::kF32, m.X(1), m.X(2)), m.X(0), m.X(3));
            },
            [](ExprMaker& m) {
              return m.b.Select(Type::kF32, m.b.Compare(sim::Compare::kLt, Type::kF32, m.X(1), m.X(2)), m.X(3), m.X(0));
            }}),
    [](const auto& info) { return info.param.name; });

TEST(CanonicalForms, BitsOfAFloatHaveNoForm) {
  ExprMaker maker;
  const std::vector<ExprId> roots = {maker.b.Extract(maker.X(0), 0, 16)};
  FormGraph forms(1000);
  const CanonicalRoots canonical = Canonicalise(maker.graph, roots, forms);
  EXPECT_EQ(canonical.forms[0], 0u);
  EXPECT_EQ(canonical.refusals.size(), 1u);
}

TEST(CanonicalForms, ConstantsByTheirType) {
  EXPECT_EQ(ConstantValue(Type::kF32, 0x40200000u), 2.5);
  EXPECT_EQ(ConstantValue(Type::kF16, 0x3c00u), 1);
  EXPECT_EQ(ConstantValue(Type::kS8, 0xffu), -1);
  EXPECT_EQ(ConstantValue(Type::kU8, 0xffu), 255);
  EXPECT_EQ(ConstantValue(Type::kS32, 0xfffffffeu), -2);
}

// Of numbers of any sign, the order of their bits is another one.
TEST(CanonicalBits, OrderOfBitsIsNoOrderOfNumbers) {
  ExprMaker maker;
  const std::vector<ExprId> roots = {maker.b.Binary(ExprOp::kMax, Type::kS32, maker.X(0), maker.X(1)),
                                     maker.b.Binary(ExprOp::kMin, Type::kU32, maker.X(0), maker.X(1))};
  FormGraph forms(100'000);
  const CanonicalRoots canonical = Canonicalise(maker.graph, roots, forms);
  EXPECT_EQ(canonical.forms, std::vector<FormId>(2, 0));
  EXPECT_EQ(canonical.refusals.size(), 1u);
}

}  // namespace
}  // namespace warpwright::lift
