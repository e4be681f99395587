#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;
using rewrite_test::CompileError;

TEST(RestrictReadonly, QualifiesWhatIsOnlyRead) {
  const std::pair<const char*, const char*> rows[] = {
      {"__global__ void k(float* o, const float* a, float* b, int n) { o[n] = a[n] + b[n]; }",
       "__global__ void k(float* o, const float* __restrict__ a, const float* __restrict__ b, int n) { o[n] = a[n] + "
       "b[n]; }"},
      {"__global__ void k(float *o, float const *a, const float *b, int n) { o[n] = a[n] + b[n]; }",
       "__global__ void k(float *o, float const * __restrict__ a, const float * __restrict__ b, int n) { o[n] = a[n] + "
       "b[n]; }"},
      {"__global__ void k(float* o, const float* a, const float* __restrict__ b, int n) { const float* p = a + n; o[n] "
       "= p[1] + b[n]; }",
       "__global__ void k(float* o, const float* __restrict__ a, const float* __restrict__ b, int n) { const float* p "
       "= a + n; o[n] = p[1] + b[n]; }"},
      // b is changed through another pointer, and c is passed on.
      {"__device__ void f(float* p); __global__ void k(float* o, const float* a, float* b, int n) { float* q = b; q[1] "
       "= 2; o[n] = a[0]; }",
       "__global__ void k(float* o, const float* __restrict__ a, float* b, int n)"},
      // A pointer to non-const is derived from b: const would not compile.
      {"__global__ void k(float* o, const float* a, float* b, int n) { float* q = b + 1; o[n] = q[0] + a[n]; }",
       "__global__ void k(float* o, const float* __restrict__ a, float* b, int n)"},
  };
  for (const auto& [kernel, expected] : rows) {
    const std::string source =
        std::string(kernel) + "\nvoid run(float* o, const float* a, float* b, int n) { k<<<1, 1>>>(o, a, b, n); }\n";
    const std::string result = Apply("restrict_readonly", source);
    EXPECT_NE(result.find(expected), std::string::npos) << result;
    EXPECT_EQ(CompileError(result), "") << result;
  }
}

TEST(RestrictReadonly, OtherDeclarationsFollow) {
  const std::string result =
      Apply("restrict_readonly",
            "__global__ void k(float* o, const float* a);\n__global__ void g(float* o, const float *);\n"
            "void run(float* o, const float* a) { k<<<1, 1>>>(o, a); }\n__global__ void k(float* o, const float* a) { "
            "o[0] = a[0]; }\n");
  EXPECT_EQ(result,
            "__global__ void k(float* o, const float* __restrict__ a);\n__global__ void g(float* o, const float *);\n"
            "void run(float* o, const float* a) { k<<<1, 1>>>(o, a); }\n__global__ void k(float* o, const float* "
            "__restrict__ a) { o[0] = a[0]; }\n");
}

TEST(RestrictReadonly, Refuses) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"__global__ void k(float* o, const float* __restrict__ a) { o[0] = a[0]; }", "k<<<1, 1>>>(o, a)", "already"},
      {"__global__ void k(float* o, float* a) { o[0] = 1; a[0] = 2; }", "k<<<1, 1>>>(o, (float*)a)",
       "no pointer is only read"},
      {"__global__ void k(float* o, const float* a) { o[0] = a[1]; }", "k<<<1, 1>>>(o, o)",
       "the same array at a launch"},
      {"__global__ void k(float* o, const float* a) { o[0] = a[1]; }", "k<<<1, 1>>>(o, o + 4)",
       "the same array at a launch"},
      {"#define ARGS float* o, const float* a\n__global__ void k(ARGS) { o[0] = a[1]; }", "k<<<1, 1>>>(o, a)",
       "REFUSED"},
  };
  for (const auto& [kernel, launch, reason] : rows) {
    const std::string result =
        Apply("restrict_readonly", std::string(kernel) + "\nvoid run(float* o, const float* a) { " + launch + "; }\n");
    EXPECT_TRUE(result.starts_with("REFUSED")) << result;
    EXPECT_NE(result.find(reason), std::string::npos) << result;
  }
}

TEST(RestrictReadonly, ATemplateOfTheExamples) {
  const std::string result = rewrite_test::ApplyToExample("restrict_readonly", "src/gelu.cu", "gelu_forward");
  EXPECT_EQ(rewrite_test::AddedLines(rewrite_test::ReadExample("src/gelu.cu"), result),
            "__global__ void gelu_kernel(T* out, const T* __restrict__ inp, int n) {\n");
  EXPECT_TRUE(
      rewrite_test::ApplyToExample("restrict_readonly", "src/rmsnorm.cu", "rmsnorm_f32").starts_with("REFUSED"));
}

}  // namespace
}  // namespace warpwright
