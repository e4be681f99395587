#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;
using rewrite_test::CompileError;

std::string ReductionSource(const std::string& body) {
  return "__global__ void k(float* o, const float* a, int n) {\n  " + body +
         "\n}\nvoid run(float* o, const float* a, int n) {\n  k<<<n, 128>>>(o, a, n);\n}\n";
}

TEST(UnrollAccumulators, WritesWhatAPersonWouldWrite) {
  const std::string result =
      Apply("unroll_accumulators",
            ReductionSource("float sum = 0.f;\n  for (int i = threadIdx.x; i < n; i += blockDim.x) sum "
                            "+= a[i];\n  o[threadIdx.x] = sum;"),
            "run", {{"factor", "2"}});
  EXPECT_EQ(result,
            ReductionSource(
                "float sum = 0.f;\n"
                "  // 2 independent accumulators: an iteration does not wait for the arithmetic of the one before.\n"
                "  float sum_part[2] = {};\n"
                "  int i_base = threadIdx.x;\n"
                "  for (; i_base + blockDim.x < n; i_base += 2 * blockDim.x) {\n"
                "#pragma unroll\n"
                "    for (int u = 0; u < 2; ++u) {\n"
                "      const int i = i_base + u * blockDim.x;\n"
                "      sum_part[u] += a[i];\n"
                "    }\n"
                "  }\n"
                "  for (int i = i_base; i < n; i += blockDim.x) sum += a[i];\n"
                "#pragma unroll\n"
                "  for (int u = 0; u < 2; ++u) {\n"
                "    sum += sum_part[u];\n"
                "  }\n"
                "  o[threadIdx.x] = sum;"));
  EXPECT_EQ(CompileError(result), "");
}

TEST(UnrollAccumulators, Applies) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"maximum", "float m = a[0];\n  for (int i = 1; i < n; i++) m = fmaxf(m, a[i]);\n  o[0] = m;",
       "for (int u = 0; u < 4; ++u) m_part[u] = m;"},
      {"comparison",
       "float m = a[0];\n  for (int i = 1; i < n; i++) {\n    if (a[i] < m) {\n      m = a[i];\n    }\n  }\n  o[0] = "
       "m;",
       "if (m_part[u] < m) m = m_part[u];"},
      {"two at once",
       "float s = 0, q = 0;\n  for (int i = 0; i < n; i++) {\n    const float v = a[i];\n    s += v;\n    q += v * "
       "v;\n  }\n  o[0] = s + q;",
       "q_part[u] += v * v;"},
      {"up to and including", "float s = 0;\n  for (int i = 1; i <= n; i++) s += a[i - 1];\n  o[0] = s;",
       "for (; i_base + 3 <= n; i_base += 4) {"},
      {"literal step", "float s = 0;\n  for (int i = 0; i < n; i += 2) s += a[i];\n  o[0] = s;",
       "for (; i_base + 6 < n; i_base += 8) {"},
      {"expression step",
       "float s = 0;\n  for (int i = threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += a[i];\n  o[0] = s;",
       "i_base += 4 * (blockDim.x * gridDim.x)"},
      {"pragma", "float s = 0;\n#pragma unroll 4\n  for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s;",
       "float s_part[4] = {};"},
      {"without braces around", "float s = 0;\n  if (n > 3)\n    for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s;",
       "  {"},
      {"stores as well",
       "float s = 0;\n  for (int i = 0; i < n; i++) {\n    o[i] = a[i] * 2;\n    s += o[i];\n  }\n  o[0] = s;",
       "s_part[u] += o[i];"},
      {"two loops into one sum",
       "float s = 0;\n  for (int i = 0; i < n; i++) s += a[i];\n  for (int j = 0; j < n; j++) s += a[j] * a[j];\n  "
       "o[0] = s;",
       "s_part2[u] += a[j] * a[j];"},
      {"the inner of two loops",
       "float s = 0;\n  for (int i = 0; i < n; i++) {\n    float q = 0;\n    for (int j = 0; j < i; j++) q += a[j];\n  "
       "  s += q;\n  }\n  o[0] = s;",
       "    float q_part[4] = {};"},
      {"integers", "int s = 0;\n  for (int i = 0; i < n; i++) s += (int)a[i];\n  o[0] = s;", "int s_part[4] = {};"},
      {"name taken", "float s = 0, s_part = 1;\n  for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s + s_part;",
       "float s_part2[4] = {};"},
      {"continue",
       "float s = 0;\n  for (int i = 0; i < n; i++) {\n    if (a[i] < 0) continue;\n    s += a[i];\n  }\n  o[0] = s;",
       "if (a[i] < 0) continue;"},
      {"subtraction", "float s = 0;\n  for (int i = 0; i < n; i++) s -= a[i];\n  o[0] = s;", "s_part[u] -= a[i];"},
  };
  for (const auto& [name, body, expected] : rows) {
    const std::string result = Apply("unroll_accumulators", ReductionSource(body));
    EXPECT_NE(result.find(expected), std::string::npos) << name << ":\n" << result;
    EXPECT_EQ(CompileError(result), "") << name << ":\n" << result;
    EXPECT_EQ(result.find("#pragma unroll 4"), std::string::npos) << name;
  }
}

TEST(UnrollAccumulators, Refuses) {
  const std::tuple<const char*, const char*, const char*> rows[] = {
      {"no accumulator", "for (int i = 0; i < n; i++) o[i] = a[i];", "no counted loop carries"},
      {"value used in the loop", "float s = 0;\n  for (int i = 0; i < n; i++) {\n    s += a[i];\n    o[i] = s;\n  }",
       "no counted loop carries"},
      {"recurrence", "float s = 0;\n  for (int i = 0; i < n; i++) s = s * 0.5f + a[i];\n  o[0] = s;",
       "no counted loop carries"},
      {"product", "float s = 1;\n  for (int i = 0; i < n; i++) s *= a[i];\n  o[0] = s;", "no counted loop carries"},
      {"index of the maximum",
       "float m = a[0];\n  int at = 0;\n  for (int i = 1; i < n; i++) if (a[i] > m) {\n    m = a[i];\n    at = i;\n  "
       "}\n  o[0] = at;",
       "no counted loop carries"},
      {"break",
       "float s = 0;\n  for (int i = 0; i < n; i++) {\n    if (a[i] < 0) break;\n    s += a[i];\n  }\n  o[0] = s;",
       "REFUSED 3: the loop cannot be unrolled: it breaks off"},
      {"return",
       "float s = 0;\n  for (int i = 0; i < n; i++) {\n    if (a[i] < 0) return;\n    s += a[i];\n  }\n  o[0] = s;",
       "it returns"},
      {"downwards", "float s = 0;\n  for (int i = n - 1; i >= 0; i--) s += a[i];\n  o[0] = s;", "upwards"},
      {"variable outside", "float s = 0;\n  int i;\n  for (i = 0; i < n; i++) s += a[i];\n  o[0] = s + i;",
       "outside the loop"},
      {"too short", "float s = 0;\n  for (int i = 0; i < 4; i++) s += a[i];\n  o[0] = s;", "4 times only"},
      {"bound changes",
       "float s = 0;\n  int m = n;\n  for (int i = 0; i < m; i++) {\n    s += a[i];\n    if (a[i] > 5) m--;\n  }\n  "
       "o[0] = s;",
       "may change"},
      {"bound in memory", "float s = 0;\n  for (int i = 0; i < o[1]; i++) {\n    s += a[i];\n  }\n  o[0] = s;",
       "may change"},
  };
  for (const auto& [name, body, reason] : rows) {
    const std::string result = Apply("unroll_accumulators", ReductionSource(body));
    EXPECT_TRUE(result.starts_with("REFUSED")) << name << ":\n" << result;
    EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
  }
}

// What is left of an unrolled loop is a loop too.
TEST(UnrollAccumulators, OnceIsEnough) {
  const std::string once = Apply(
      "unroll_accumulators", ReductionSource("float s = 0;\n  for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s;"));
  EXPECT_TRUE(Apply("unroll_accumulators", once).starts_with("REFUSED")) << Apply("unroll_accumulators", once);
}

TEST(UnrollAccumulators, AKernelThatOthersUseStays) {
  const std::string source = ReductionSource("float s = 0;\n  for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s;") +
                             "void other(float* o, const float* a, int n) { k<<<n, 64>>>(o, a, n); }\n";
  const std::string result = Apply("unroll_accumulators", source);
  EXPECT_NE(result.find("k_unrolled<<<n, 128>>>"), std::string::npos) << result;
  EXPECT_NE(result.find("{ k<<<n, 64>>>"), std::string::npos);
  EXPECT_NE(result.find("  for (int i = 0; i < n; i++) s += a[i];\n  o[0] = s;\n}\n\n__global__ void k_unrolled("),
            std::string::npos)
      << result;
  EXPECT_EQ(CompileError(result), "");
}

}  // namespace
}  // namespace warpwright
