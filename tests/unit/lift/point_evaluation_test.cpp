// Expressions on one input: real values, computed values, and the bounds between them.
#include "lift/point_evaluation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "core/dtype.h"
#include "lift/builder.h"
#include "lift/point_inputs.h"

namespace warpwright::lift {
namespace {

using sim::Type;

uint64_t Bits(float v) { return std::bit_cast<uint32_t>(v); }
double Computed(const PointValue& v) { return std::bit_cast<float>(static_cast<uint32_t>(v.bits)); }

struct Expressions {
  Graph graph{10000};
  Builder builder{graph};

  ExprId Load(uint64_t element) {
    return builder.Make({.op = ExprOp::kLoad, .type = Type::kF32, .payload = element}, Bits(1.0f));
  }
  ExprId Const(float v) { return builder.Const(Type::kF32, Bits(v)); }
  ExprId Op(ExprOp op, ExprId a, ExprId b = kConcrete, ExprId c = kConcrete) {
    const auto arity = static_cast<uint8_t>(b == kConcrete ? 1 : c == kConcrete ? 2 : 3);
    return builder.Make({.op = op, .type = Type::kF32, .arity = arity, .args = {a, b, c}});
  }
};

// The root of a normalisation: sums, products, a division, a function.
TEST(PointEvaluation, ComputedValuesLieWithinTheirBounds) {
  Expressions e;
  constexpr uint64_t kCount = 50;
  ExprId sum = e.Const(0), squares = e.Const(0);
  for (uint64_t i = 0; i < kCount; ++i) sum = e.Op(ExprOp::kAdd, sum, e.Load(i));
  const ExprId mean = e.Op(ExprOp::kDiv, sum, e.Const(kCount));
  for (uint64_t i = 0; i < kCount; ++i) {
    const ExprId d = e.Op(ExprOp::kSub, e.Load(i), mean);
    squares = e.Op(ExprOp::kFma, d, d, squares);
  }
  const ExprId root = e.Op(ExprOp::kRsqrt, e.Op(ExprOp::kAdd, squares, e.Const(1e-5f)));
  const ExprId result = e.Op(ExprOp::kMul, root, e.Op(ExprOp::kEx2, e.Op(ExprOp::kNeg, mean)));
  PointEvaluation values(e.graph, std::vector<ExprId>{result});
  for (const double offset : {0.0, 1.0, 10.0, 100.0}) {
    const base::CounterRandom random(7, static_cast<uint64_t>(offset));
    values.Run([&](uint16_t, uint64_t i) { return Bits(static_cast<float>(random.Uniform(i) - 0.5 + offset)); });
    double exact = 0;
    for (uint64_t i = 0; i < kCount; ++i) exact += static_cast<float>(random.Uniform(i) - 0.5 + offset);
    EXPECT_NEAR(values[mean].real, exact / kCount, 1e-12 * (1 + offset));
    for (const ExprId id : values.nodes()) {
      if (e.graph[id].type != Type::kF32) continue;
      const PointValue& v = values[id];
      EXPECT_LE(std::fabs(Computed(v) - v.real), v.rounding) << Name(e.graph[id].op) << " at " << offset;
    }
    EXPECT_LT(values[result].rounding, 1e-3 * (1 + offset) * values[result].real);  // and say something
    EXPECT_LT(values[mean].literal, 1e-12 * (1 + offset));
  }
}

TEST(PointEvaluation, ChoicesThatRoundingMayTurnMayBeEither) {
  Expressions e;
  const ExprId x = e.Load(0), third = e.Op(ExprOp::kDiv, x, e.Const(3));
  const ExprId condition = e.builder.Compare(sim::Compare::kLt, Type::kF32, third, e.Const(1));
  const ExprId choice = e.builder.Select(Type::kF32, condition, e.Const(2), e.Const(8));
  const ExprId direct = e.builder.Compare(sim::Compare::kLt, Type::kF32, x, e.Const(3));
  PointEvaluation values(e.graph, std::vector<ExprId>{choice, direct});
  const auto at = [&](float v) { values.Run([v](uint16_t, uint64_t) { return Bits(v); }); };
  at(3);
  EXPECT_EQ(values[choice].rounding, 6);  // 3 / 3 is as good as less than 1
  EXPECT_EQ(values[direct].rounding, 0);  // an input beside a literal is what it is
  at(2);
  EXPECT_EQ(values[choice].real, 2);
  EXPECT_EQ(values[choice].rounding, 0);
}

TEST(PointEvaluation, BitsOfRoundedNumbersSayNothing) {
  Expressions e;
  const ExprId x = e.Load(0), sum = e.Op(ExprOp::kAdd, x, e.Const(1));
  const auto masked = [&](ExprId of) {
    return e.builder.Make({.op = ExprOp::kIntAnd,
                           .type = Type::kU32,
                           .arity = 2,
                           .args = {of, e.builder.Const(Type::kU32, 0xffffff00u)}});
  };
  const ExprId of_sum = masked(sum), of_input = masked(x);
  PointEvaluation values(e.graph, std::vector<ExprId>{of_sum, of_input});
  values.Run([](uint16_t, uint64_t) { return Bits(0.3f); });
  EXPECT_TRUE(std::isinf(values[of_sum].rounding));
  EXPECT_EQ(values[of_input].rounding, 0);
}

TEST(PointInputs, KeepWhatTheManifestDecides) {
  core::KernelSpec spec;
  const auto argument = [&](const char* name, core::DType dtype, core::Role role, core::Init::Kind kind) {
    core::BufferArgument buffer{.dtype = dtype, .role = role};
    buffer.init.kind = kind;
    spec.args.push_back({name, buffer});
  };
  argument("open", core::DType::kF32, core::Role::kIn, core::Init::Kind::kNormal);
  argument("fixed", core::DType::kF32, core::Role::kIn, core::Init::Kind::kLognormal);
  argument("index", core::DType::kI32, core::Role::kIn, core::Init::Kind::kIntegers);
  argument("out", core::DType::kF32, core::Role::kOut, core::Init::Kind::kDefault);
  std::vector<core::BufferContent> given;
  for (const core::Argument& a : spec.args) {
    std::vector<std::byte> bytes(400);
    for (size_t i = 0; i < 100; ++i)
      core::StoreFromDouble(std::get<core::BufferArgument>(a.kind).dtype, bytes.data(), i, static_cast<double>(i));
    core::BufferContent content{.name = a.name};
    content.bytes = base::Bytes(std::move(bytes));
    given.push_back(std::move(content));
  }
  for (int range = 0; range < kPointRanges; ++range) {
    const auto point = MakePoint(spec, given, static_cast<PointRange>(range), 5, std::vector<double>{1234.5});
    EXPECT_EQ(point[0].bytes == given[0].bytes, static_cast<PointRange>(range) == PointRange::kGiven);
    EXPECT_TRUE(point[1].bytes == given[1].bytes);
    EXPECT_TRUE(point[3].bytes == given[3].bytes);
    int64_t sum = 0;
    for (size_t i = 0; i < 100; ++i) sum += core::LoadAsInteger(core::DType::kI32, point[2].bytes.data(), i);
    EXPECT_EQ(sum, 99 * 50);  // only other places
    if (static_cast<PointRange>(range) != PointRange::kThresholds) continue;
    bool met = false;
    for (size_t i = 0; i < 100; ++i) met |= core::LoadAsDouble(core::DType::kF32, point[0].bytes.data(), i) == 1234.5;
    EXPECT_TRUE(met);
  }
}

}  // namespace
}  // namespace warpwright::lift
