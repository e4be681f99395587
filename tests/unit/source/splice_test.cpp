#include "source/splice.h"

#include <gtest/gtest.h>

#include "source/inspect.h"

namespace warpwright {
namespace {

constexpr const char* kOriginal = R"(// A file with two entries.
#include <cuda_runtime.h>
#include <stdio.h>

#define BLOCK 256   // threads

/* Helper of both. */
__device__ float  square(float x)   { return x*x; }

// Sums rows.
__global__ void row_sum_kernel(float* out, const float* in, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += in[blockIdx.x * n + i];
  out[blockIdx.x] = s;
}

void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<rows, 1>>>(out, in, n);
}

__global__ void scale_kernel(float* x) { x[threadIdx.x] = square(x[threadIdx.x]); }
void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("not there: " + from);
  return text.replace(at, from.size(), to);
}

SpliceOutcome DoSplice(const std::string& edited, const std::string& entry = "row_sum",
                       const std::string& original = kOriginal) {
  auto outcome = Splice({{"/tmp", "ww-splice.cu", original}, edited, entry});
  if (!outcome) throw std::runtime_error(outcome.error().Format());
  return *outcome;
}
std::string Text(const SpliceOutcome& outcome) {
  const auto* rewritten = std::get_if<Rewritten>(&outcome);
  return rewritten == nullptr ? "refused: " + std::get<Refused>(outcome).reason : rewritten->text;
}
std::string Reason(const SpliceOutcome& outcome) {
  const auto* refused = std::get_if<Refused>(&outcome);
  return refused == nullptr ? "it was spliced" : refused->reason;
}

TEST(Splice, NothingChangedIsTheOriginal) { EXPECT_EQ(Text(DoSplice(kOriginal)), kOriginal); }

TEST(Splice, AnotherLayoutAndOtherCommentsAreNoChange) {
  std::string edited = Replaced(kOriginal, "return x*x;", "return x * x;");
  edited = Replaced(edited, "// Sums rows.", "// Sums all the rows.");
  EXPECT_EQ(Text(DoSplice(edited)), kOriginal);
}

TEST(Splice, ChangedKernelAndLauncherKeepEverythingElse) {
  const std::string edited = R"(#include <cuda_runtime.h>
#include <stdio.h>
#define BLOCK 256
__device__ float square(float x) { return x * x; }
__global__ void row_sum_kernel(float* out, const float* in, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += in[blockIdx.x * n + i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<rows, 32>>>(out, in, n);
}
__global__ void scale_kernel(float* x) { x[threadIdx.x] = square(x[threadIdx.x]); }
void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }
)";
  std::string expected = Replaced(kOriginal, "int i = 0; i < n; ++i)", "int i = threadIdx.x; i < n; i += 32)");
  expected = Replaced(expected, "  out[blockIdx.x] = s;",
                      "  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);\n  if (threadIdx.x == 0) "
                      "out[blockIdx.x] = s;");
  expected = Replaced(expected, "<<<rows, 1>>>", "<<<rows, 32>>>");
  EXPECT_EQ(Text(DoSplice(edited)), expected);
}

TEST(Splice, NewHelpersMacrosAndIncludesGoInFront) {
  std::string edited = Replaced(
      kOriginal, "// Sums rows.\n",
      "#define WARP 32\n\n// Adds over a warp.\n__device__ float warp_sum(float s) {\n"
      "  for (int o = WARP / 2; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);\n  return s;\n}\n\n// Sums rows.\n");
  edited = Replaced(edited, "#include <stdio.h>\n", "#include <stdio.h>\n#include <cooperative_groups.h>\n");
  edited = Replaced(edited, "out[blockIdx.x] = s;", "out[blockIdx.x] = warp_sum(s);");
  const std::string text = Text(DoSplice(edited));
  EXPECT_NE(text.find("#include <stdio.h>\n#include <cooperative_groups.h>\n"), std::string::npos) << text;
  EXPECT_NE(text.find("// Adds over a warp.\n__device__ float warp_sum(float s) {"), std::string::npos) << text;
  EXPECT_LT(text.find("#define WARP 32"), text.find("warp_sum(float s)"));
  EXPECT_LT(text.find("warp_sum(float s)"), text.find("// Sums rows."));
  EXPECT_NE(text.find("/* Helper of both. */\n__device__ float  square(float x)   { return x*x; }"), std::string::npos);
}

TEST(Splice, ReplacedKernelGoesAndTheNewOneTakesItsPlace) {
  std::string edited = kOriginal;
  for (int i = 0; i < 2; ++i) edited = Replaced(edited, "row_sum_kernel", "row_sum_by_warps");
  const std::string text = Text(DoSplice(edited));
  EXPECT_EQ(text.find("row_sum_kernel"), std::string::npos) << text;
  EXPECT_NE(text.find("__global__ void row_sum_by_warps("), std::string::npos) << text;
  EXPECT_NE(text.find("row_sum_by_warps<<<rows, 1>>>"), std::string::npos) << text;
  EXPECT_NE(text.find("scale_kernel<<<1, BLOCK>>>"), std::string::npos) << text;
}

TEST(Splice, SharedHelperMayChangeAndNewCodeInNamespaces) {
  const std::string original =
      "namespace a {\n__global__ void k(float* x) { *x = 1; }\n}\nvoid run(float* x) { a::k<<<1, 1>>>(x); }\n";
  const std::string edited =
      "namespace a {\n__device__ float one() { return 1; }\n__global__ void k(float* x) { *x = one(); }\n}\n"
      "namespace b { __global__ void second(float* x) { *x = 2; } }\n"
      "void run(float* x) { a::k<<<1, 1>>>(x); b::second<<<1, 1>>>(x); }\n";
  const std::string text = Text(DoSplice(edited, "run", original));
  EXPECT_NE(text.find("namespace a {\n__device__ float one() { return 1; }\n\n__global__ void k"), std::string::npos)
      << text;
  EXPECT_NE(text.find("namespace b {\n__global__ void second"), std::string::npos) << text;
}

TEST(Splice, OverloadsAndTemplatesKeepTheirPartner) {
  const std::string original =
      "__device__ float f(float x) { return x; }\n__device__ double f(double x) { return x; }\n"
      "template <typename T> __global__ void k(T* x) { *x = f(*x); }\nvoid run(float* x) { k<<<1, 1>>>(x); }\n";
  const std::string edited =
      Replaced(original, "double f(double x) { return x; }", "double f(double x) { return x + 0; }");
  EXPECT_EQ(Text(DoSplice(edited, "run", original)), edited);
}

TEST(Splice, RefusesEditsElsewhere) {
  EXPECT_EQ(
      Reason(DoSplice(Replaced(kOriginal, "{ scale_kernel<<<1, BLOCK>>>(x); }", "{ scale_kernel<<<2, BLOCK>>>(x); }"))),
      "the edit changes scale, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "return x*x;", "return x;"))),
            "the edit changes square, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }\n", ""))),
            "the edit removes scale, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "#define BLOCK 256", "#define BLOCK 128"))),
            "the edit changes #define BLOCK, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(std::string(kOriginal) + "float* global_state;\n")),
            "the edit adds global_state, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(std::string(kOriginal) + "#if 1\n#endif\n")),
            "the edit changes preprocessor directives or inactive code");
}

TEST(Splice, RefusesAnotherSignature) {
  EXPECT_NE(Reason(DoSplice(Replaced(kOriginal, "int rows, int n) {\n  row", "int rows, long n) {\n  row")))
                .find("changes the signature of row_sum"),
            std::string::npos);
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "void row_sum(", "void other("))), "the edited file has no row_sum");
}

TEST(Splice, RefusesWhatCannotBeSliced) {
  EXPECT_NE(Reason(DoSplice(Replaced(kOriginal, "  row_sum_kernel<<<rows, 1>>>(out, in, n);",
                                     "  cublasSasum(0, 0, 0, 0, 0);  row_sum_kernel<<<rows, 1>>>(out, in, n);")))
                .find("cuBLAS"),
            std::string::npos);
}

TEST(Splice, KeepsIncludesThatTheEditDropped) {
  std::string edited = Replaced(kOriginal, "#include <stdio.h>\n", "");
  edited = Replaced(edited, "<<<rows, 1>>>", "<<<rows, 1, 0>>>");
  EXPECT_EQ(Text(DoSplice(edited)), Replaced(kOriginal, "<<<rows, 1>>>", "<<<rows, 1, 0>>>"));
}

}  // namespace
}  // namespace warpwright
