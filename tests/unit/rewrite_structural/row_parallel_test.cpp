#include <gtest/gtest.h>

#include "row_styles.h"
#include "structural_test_support.h"

namespace warpwright {
namespace {

using namespace structural_test;

class RowParallelStyles : public testing::TestWithParam<Style> {};

TEST_P(RowParallelStyles, AreRewrittenAndCompile) {
  const Style& style = GetParam();
  const std::string source = style.kernel + style.host;
  for (const Parameters& parameters : {Parameters{}, Parameters{{"mode", "warp"}, {"rows_per_block", "8"}}}) {
    const std::string text = Apply("row_parallel", source, "entry", parameters);
    ASSERT_FALSE(text.starts_with("REFUSED") || text.starts_with("ERROR")) << text;
    EXPECT_EQ(CompileError(text, "kernel.cu", "entry", style.kernels), "") << text;
    if (!parameters.empty()) continue;
    for (const std::string& part : style.contains)
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
    for (const std::string& part : style.absent)
      EXPECT_EQ(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RowParallelStyles, testing::ValuesIn(RowStyles()),
                         [](const auto& tested) { return tested.param.name; });

struct Example {
  std::string file, entry;
  std::vector<std::string> kernels;
};
std::ostream& operator<<(std::ostream& out, const Example& example) { return out << example.file; }

class RowParallelExamples : public testing::TestWithParam<Example> {};

TEST_P(RowParallelExamples, AreRewrittenAndCompile) {
  const Example& example = GetParam();
  for (const Parameters& parameters : {Parameters{{"threads", "128"}}, Parameters{{"mode", "warp"}}}) {
    const std::string text = ApplyToExample("row_parallel", example.file, example.entry, parameters);
    ASSERT_FALSE(text.starts_with("REFUSED") || text.starts_with("ERROR")) << text;
    EXPECT_EQ(CompileError(text, example.file, example.entry, example.kernels), "") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RowParallelExamples,
                         testing::Values(Example{"src/softmax.cu", "softmax_forward", {"softmax_forward_kernel"}},
                                         Example{"src/layernorm.cu", "layernorm_forward", {"layernorm_forward_kernel"}},
                                         Example{"src/row_sum.cu", "row_sum", {"row_sum_kernel"}},
                                         Example{"src/argmax.cu", "argmax", {"argmax_kernel"}},
                                         Example{"src/cross_entropy.cu", "cross_entropy", {"cross_entropy_kernel"}}));

TEST(RowParallel, WritesAWarpPerRow) {
  EXPECT_EQ(Apply("row_parallel", std::string(R"(// Scales rows to length one.
__global__ void k(float* out, const float* inp, int N, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < N) {
        float sum = 0.0f;
        for (int c = 0; c < C; c++) {
            sum += inp[row * C + c] * inp[row * C + c];
        }
        float scale = rsqrtf(sum);
        for (int c = 0; c < C; c++)
            out[row * C + c] = inp[row * C + c] * scale;
    }
}

void entry(float* out, const float* inp, int N, int C) {
    const int threads = 128;
    k<<<(N + threads - 1) / threads, threads>>>(out, inp, N, C);
}
)"),
                  "entry", {{"mode", "warp"}, {"rows_per_block", "4"}}),
            R"(// The sum of one value per thread, over the warp; every thread gets it.
__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// Scales rows to length one.
__global__ void k(float* out, const float* inp, int N, int C) {
    // One warp per row: neighbouring lanes read neighbouring columns.
    const int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row < N) {
        float sum = 0.0f;
        for (int c = lane; c < C; c += 32) {
            sum += inp[row * C + c] * inp[row * C + c];
        }
        sum = warp_sum(sum);
        float scale = rsqrtf(sum);
        for (int c = lane; c < C; c += 32)
            out[row * C + c] = inp[row * C + c] * scale;
    }
}

void entry(float* out, const float* inp, int N, int C) {
    const int threads = 128;
    k<<<(N + 3) / 4, threads>>>(out, inp, N, C);
}
)");
}

// The second rewrite of a file finds the helper of the first.
TEST(RowParallel, SharesHelpers) {
  const std::string kernel = R"((float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += inp[row * C + c];
  out[row] = s;
}
)";
  const std::string source =
      "__global__ void a" + kernel + "__global__ void b" + kernel +
      "void f(float* o, const float* i, int N, int C) { a<<<(N + 255) / 256, 256>>>(o, i, N, C); }\n"
      "void g(float* o, const float* i, int N, int C) { b<<<(N + 255) / 256, 256>>>(o, i, N, C); }\n";
  const std::string both = Apply("row_parallel", Apply("row_parallel", source, "f"), "g");
  EXPECT_EQ(Count(both, "float block_sum(float value) {"), 1) << both;
  EXPECT_EQ(Count(both, "s = block_sum(s);"), 2) << both;
}

TEST(RowParallel, AvoidsNamesThatTheFileUses) {
  const std::string text = Apply("row_parallel", std::string(R"(__device__ float block_sum(float x) { return x; }
__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += inp[row * C + c];
  out[row] = block_sum(s);
}
void entry(float* out, const float* inp, int N, int C) { k<<<(N + 255) / 256, 256>>>(out, inp, N, C); }
)"),
                                 "entry");
  EXPECT_NE(text.find("s = block_sum2(s);"), std::string::npos) << text;
  EXPECT_EQ(CompileError(text, "kernel.cu", "entry", {"k"}), "");
}

}  // namespace
}  // namespace warpwright
