#include "judge/shadow.h"

#include <gtest/gtest.h>

#include "judge/inputs.h"
#include "tests/support/fake_evaluator.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

TEST(Shadow, HasTheTextThatTheWorkerDerives) {
  FakeEvaluator worker;
  const auto shadow = MakeShadow(SoftmaxSpec(4, 4), {"/tmp", "a.cu", "float x;"}, worker);
  ASSERT_TRUE(shadow) << shadow.error().message;
  EXPECT_EQ(shadow->source.text, "float x;");  // which a fake leaves alone
  EXPECT_EQ(shadow->spec.entry, SoftmaxSpec(4, 4).entry);
  EXPECT_EQ(std::get<BufferArgument>(shadow->spec.args[1].kind).dtype, DType::kF64);
  EXPECT_EQ(std::get<ScalarArgument>(shadow->spec.args[2].kind).dtype, DType::kI32);
}

TEST(Shadow, OnlyWhereItAddsSomething) {
  const SourceRef source{"/tmp", "a.cu", "double x;"};
  FakeEvaluator worker;
  EXPECT_FALSE(MakeShadow(ElementwiseSpec(DType::kF64, 4), source, worker));
  EXPECT_FALSE(MakeShadow(ElementwiseSpec(DType::kI32, 4), source, worker));
  EXPECT_TRUE(MakeShadow(ElementwiseSpec(DType::kBF16, 4), source, worker));
}

TEST(Shadow, ConvertsInputsExactly) {
  const KernelSpec spec = ElementwiseSpec(DType::kF16, 100);
  const auto inputs = *MakeInputs(spec, spec.cases[0], InputVariant::kSpecialValues, 3, "");
  const auto wide = ShadowInputs(spec, 3, inputs);
  ASSERT_EQ(wide.size(), 2u);
  ASSERT_EQ(wide[1].bytes.size(), 800u);
  EXPECT_TRUE(wide[0].uninitialized);
  for (size_t i = 0; i < 100; ++i) {
    const double narrow = LoadAsDouble(DType::kF16, inputs[1].bytes.data(), i),
                 doubled = LoadAsDouble(DType::kF64, wide[1].bytes.data(), i);
    EXPECT_TRUE(narrow == doubled || (narrow != narrow && doubled != doubled)) << i;
  }
}

}  // namespace
}  // namespace warpwright
