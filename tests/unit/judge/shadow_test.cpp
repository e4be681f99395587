#include "judge/shadow.h"

#include <gtest/gtest.h>

#include "judge/inputs.h"
#include "tests/support/fake_evaluator.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

TEST(Shadow, HasTheTextThatTheWorkerDerives) {
  FakeEvaluator worker;
  const auto shadow = judge::MakeShadow(SoftmaxSpec(4, 4), {"/tmp", "a.cu", "float x;"}, worker);
  ASSERT_TRUE(shadow) << shadow.error().message;
  EXPECT_EQ(shadow->source.text, "float x;");  // which a fake leaves unchanged
  EXPECT_EQ(shadow->spec.entry, SoftmaxSpec(4, 4).entry);
  EXPECT_EQ(std::get<core::BufferArgument>(shadow->spec.args[1].kind).dtype, core::DType::kF64);
  EXPECT_EQ(std::get<core::ScalarArgument>(shadow->spec.args[2].kind).dtype, core::DType::kI32);
}

TEST(Shadow, OnlyWhereItAddsSomething) {
  const core::SourceRef source{"/tmp", "a.cu", "double x;"};
  FakeEvaluator worker;
  EXPECT_FALSE(judge::MakeShadow(ElementwiseSpec(core::DType::kF64, 4), source, worker));
  EXPECT_FALSE(judge::MakeShadow(ElementwiseSpec(core::DType::kI32, 4), source, worker));
  EXPECT_TRUE(judge::MakeShadow(ElementwiseSpec(core::DType::kBF16, 4), source, worker));
}

TEST(Shadow, ConvertsInputsExactly) {
  const core::KernelSpec spec = ElementwiseSpec(core::DType::kF16, 100);
  const auto inputs = *judge::MakeInputs(spec, spec.cases[0], judge::InputVariant::kSpecialValues, 3, "");
  const auto wide = judge::ShadowInputs(spec, 3, inputs);
  ASSERT_EQ(wide.size(), 2u);
  ASSERT_EQ(wide[1].bytes.size(), 800u);
  EXPECT_TRUE(wide[0].uninitialized);
  for (size_t i = 0; i < 100; ++i) {
    const double narrow = core::LoadAsDouble(core::DType::kF16, inputs[1].bytes.data(), i),
                 doubled = core::LoadAsDouble(core::DType::kF64, wide[1].bytes.data(), i);
    EXPECT_TRUE(narrow == doubled || (narrow != narrow && doubled != doubled)) << i;
  }
}

}  // namespace
}  // namespace warpwright
