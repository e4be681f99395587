#include "judge/shadow.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "judge/inputs.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

struct Row {
  const char* before;
  const char* after;
};

TEST(Shadow, RewritesTokens) {
  const Row rows[] = {
      {"float x = 0.5f;", "double x = ((double)0.5f);"},
      {"const float4* p = reinterpret_cast<const float4*>(q);",
       "const double4* p = reinterpret_cast<const double4*>(q);"},
      {"expf(x) + __expf(y) * rsqrtf(z)", "exp(x) + exp(y) * rsqrt(z)"},
      {"fmaxf(m, -INFINITY)", "fmax(m, -INFINITY)"},
      {"1e-5F + 2.5e+3f + .5f + 1.f", "((double)1e-5F) + ((double)2.5e+3f) + ((double).5f) + ((double)1.f)"},
      {"int i = 0x1f; 10u; 7", "int i = 0x1f; 10u; 7"},
      {"0x1.8p3f", "((double)0x1.8p3f)"},
      {"3.0 * x", "3.0 * x"},
      {"k<float, 4><<<g, b, n * sizeof(float)>>>(x)", "k<double, 4><<<g, b, n * sizeof(double)>>>(x)"},
      {"// a float 1.0f\n\"float\" 'f' /* float */", "// a float 1.0f\n\"float\" 'f' /* float */"},
      {"floats = my_float + afloat4;", "floats = my_float + afloat4;"},
      {"int half = n / 2;", "int half = n / 2;"},
      {"#include <cuda_fp16.h>\nhalf a; __half b = __float2half(__half2float(a));",
       "#include <cuda_fp16.h>\nww_half a; ww_half b = ww_half(double(a));"},
      {"#include \"float.h\"\nfloat x;", "#include \"float.h\"\ndouble x;"},
      {"\"unterminated float\nfloat", "\"unterminated float\ndouble"},
  };
  for (const Row& row : rows) {
    const auto rewritten = RewriteToDouble(row.before);
    ASSERT_TRUE(rewritten) << row.before << ": " << rewritten.error().message;
    EXPECT_EQ(*rewritten, row.after);
  }
}

TEST(Shadow, RefusesWhatLooksAtBits) {
  for (const char* text : {"__float_as_int(x)", "asm volatile(\"\")", "__hadd2_rn(a, b)", "__float2int_rn(x)",
                           "wmma::load", "__half_as_ushort(h)"}) {
    const auto rewritten = RewriteToDouble(text);
    ASSERT_FALSE(rewritten) << text;
    EXPECT_EQ(rewritten.error().code, ErrorCode::kUnsupported);
  }
  for (const char* text : {"__forceinline__ __host__ int f() { return __ffs(1); }"}) EXPECT_TRUE(RewriteToDouble(text));
}

TEST(Shadow, InlinesHeadersOfTheRepositoryOnly) {
  auto folder = *TemporaryDirectory::Create("shadow");
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "kernels" / "common.cuh",
                                  "#pragma once\n#include \"deep.cuh\"\nfloat helper(float x);\n"));
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "kernels" / "deep.cuh",
                                  "#include \"common.cuh\"\nstruct Deep { float f; };\n"));
  const SourceRef source{folder.path().string(), "kernels/softmax.cu",
                         "#include <cuda_runtime.h>\n#include \"common.cuh\"\n#include \"common.cuh\"\n#include "
                         "\"/etc/passwd\"\nfloat kernel;\n"};
  const auto shadow = MakeShadow(SoftmaxSpec(4, 4), source);
  ASSERT_TRUE(shadow) << shadow.error().message;
  EXPECT_EQ(shadow->source.text,
            "#include <cuda_runtime.h>\nstruct Deep { double f; };\n\ndouble helper(double x);\n\n#include "
            "\"/etc/passwd\"\ndouble kernel;\n");
  EXPECT_EQ(std::get<BufferArgument>(shadow->spec.args[1].kind).dtype, DType::kF64);
  EXPECT_EQ(std::get<ScalarArgument>(shadow->spec.args[2].kind).dtype, DType::kI32);
}

TEST(Shadow, OnlyWhereItAddsSomething) {
  const SourceRef source{"/tmp", "a.cu", "double x;"};
  EXPECT_FALSE(MakeShadow(ElementwiseSpec(DType::kF64, 4), source));
  EXPECT_FALSE(MakeShadow(ElementwiseSpec(DType::kI32, 4), source));
  EXPECT_TRUE(MakeShadow(ElementwiseSpec(DType::kBF16, 4), source));
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
