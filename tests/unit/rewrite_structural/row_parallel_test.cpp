#include <gtest/gtest.h>

#include "structural_test_support.h"

namespace warpwright {
namespace {

using namespace structural_test;

struct Style {
  std::string name;
  std::string kernel;                 // device code; the launcher below it
  std::string host;
  std::vector<std::string> kernels;   // to compile
  std::vector<std::string> contains;  // of the text in block mode
  std::vector<std::string> absent;
};

std::ostream& operator<<(std::ostream& out, const Style& style) { return out << style.name; }

const char* const kLaunchOnePerRow = R"(
void entry(float* out, const float* inp, int N, int C) {
  const int threads = 128;
  k<<<(N + threads - 1) / threads, threads>>>(out, inp, N, C);
}
)";

const std::vector<Style>& Styles() {
  static const std::vector<Style> styles = {
      {"early_return_and_flat_index",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; ++c) s = s + inp[row * C + c];
  out[row] = s / C;
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"int row = blockIdx.x;", "for (int c = threadIdx.x; c < C; c += blockDim.x) s = s + inp[row * C + c];\n  s = block_sum(s);",
        "if (threadIdx.x == 0) out[row] = s / C;", "k_row_parallel<<<N, threads>>>", "const int threads = 256;"},
       {"__global__ void k("}},
      {"first_element_starts_the_maximum",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N) {
    const float* x = inp + (size_t)row * C;
    float m = x[0];
    for (int c = 1; c < C; c++) m = x[c] > m ? x[c] : m;
    out[row] = m;
  }
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"float m = x[0];", "for (int c = 1 + threadIdx.x; c < C; c += blockDim.x)", "m = block_max(m);", "value = fmaxf(value, other);"},
       {}},
      {"two_reductions_in_one_loop",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) { return; }
  float sum = 0.0f, low = 1e30f;
  for (int c = 0; c < C; c++) {
    const float v = inp[row * C + c];
    sum += v;
    if (v < low) low = v;
  }
  out[row] = sum - C * low;
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"sum = block_sum(sum);", "low = block_min(low);"},
       {}},
      {"reduction_continues_over_two_loops",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N) {
    float s = inp[row * C];
    for (int c = 1; c < C / 2; c++) s += inp[row * C + c];
    for (int c = C / 2; c < C; c++) s += 2.0f * inp[row * C + c];
    out[row] = s;
  }
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"if (threadIdx.x != 0) s = 0.0f;", "for (int c = (C / 2) + (int)threadIdx.x; c < C; c += blockDim.x)"},
       {}},
      {"template_accumulator",
       R"(template <typename T, typename Acc>
__global__ void k(T* out, const T* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  Acc s = Acc(0);
  for (int c = 0; c < C; c++) s += Acc(inp[row * C + c]);
  out[row] = T(s);
}
)",
       R"(
void entry(double* out, const double* inp, int N, int C) {
  k<double, double><<<(N + 63) / 64, 64>>>(out, inp, N, C);
}
)",
       {"k_row_parallel<double, double>", "k_row_parallel<float, double>"},
       {"template <typename T>\n__device__ __forceinline__ T block_sum(T value)", "k_row_parallel<double, double><<<N, 256>>>"},
       {}},
      {"half_with_float_sums",
       R"(#include <cuda_fp16.h>
__global__ void k(half* out, const half* inp, const half* weight, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sq = 0.f;
  for (int c = 0; c < cols; c++) {
    float v = __half2float(inp[row * cols + c]);
    sq = fmaf(v, v, sq);
  }
  float scale = rsqrtf(sq / cols + 1e-6f);
  for (int c = 0; c < cols; c++) out[row * cols + c] = __float2half(__half2float(inp[row * cols + c]) * scale * __half2float(weight[c]));
}
)",
       R"(
void entry(half* out, const half* inp, const half* weight, int rows, int cols) {
  dim3 block(128), grid((rows + 127) / 128);
  k<<<grid, block>>>(out, inp, weight, rows, cols);
}
)",
       {"k_row_parallel"},
       {"sq = block_sum(sq);", "k_row_parallel<<<rows, 256>>>"},
       {}},
      {"argmin_with_last_index",
       R"(#include <math.h>
__global__ void k(int* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float best = INFINITY;
  int at = 0;
  for (int c = 0; c < C; c++) {
    float v = inp[row * C + c];
    if (best >= v) {
      at = c;
      best = v;
    }
  }
  out[row] = at;
}
)",
       R"(
void entry(int* out, const float* inp, int N, int C) { k<<<(N + 255) / 256, 256>>>(out, inp, N, C); }
)",
       {"k_row_parallel"},
       {"block_argmin(best, at);", "other < value || (other == value && other_index > index)"},
       {}},
      {"counts_and_bits",
       R"(__global__ void k(int* out, const int* inp, int N, int C, int limit) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  int count = 0;
  unsigned int bits = 0;
  for (int c = 0; c < C; c++) {
    if (inp[row * C + c] > limit) count++;
    bits |= inp[row * C + c];
  }
  out[row] = count + (int)bits;
}
)",
       R"(
void entry(int* out, const int* inp, int N, int C, int limit) { k<<<(N + 255) / 256, 256>>>(out, inp, N, C, limit); }
)",
       {"k_row_parallel"},
       {"count = block_sum(count);", "bits = block_or(bits);"},
       {}},
      {"compressed_rows",
       R"(__global__ void k(float* __restrict__ y, const int* __restrict__ start, const int* __restrict__ column,
                  const float* __restrict__ value, const float* __restrict__ x, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    float dot = 0;
    int begin = start[row], end = start[row + 1];
    for (int j = begin; j < end; j++) {
      dot += value[j] * x[column[j]];
    }
    y[row] += dot;
  }
}
)",
       R"(
void entry(float* y, const int* start, const int* column, const float* value, const float* x, int n) {
  k<<<(n + 255) / 256, 256>>>(y, start, column, value, x, n);
}
)",
       {"k_row_parallel"},
       {"for (int j = begin + (int)threadIdx.x; j < end; j += blockDim.x)", "if (threadIdx.x == 0) y[row] += dot;"},
       {}},
      {"uniform_branch_and_early_out",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += fabsf(inp[row * C + c]);
  if (s == 0.0f) {
    out[row * C] = 0.0f;
    return;
  }
  const float scale = 1.0f / s;
  for (int c = 0; c < C; c++) out[row * C + c] = inp[row * C + c] * scale;
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"if (threadIdx.x == 0) out[row * C] = 0.0f;\n    return;"},
       {}},
      {"barrier_where_columns_are_read_in_another_order",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  for (int c = 0; c < C; c++) out[row * C + c] = 2.0f * inp[row * C + c];
  float s = 0;
  for (int c = 0; c < C / 2; c++) s += out[row * C + 2 * c];
  out[row * C] = s;
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"float s = 0;\n  __syncthreads();\n  for", "if (threadIdx.x == 0) out[row * C] = s;"},
       {}},
      {"heads_outside_columns_inside",
       R"(__global__ void k(float* out, const float* inp, int N, int H, int D) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  for (int h = 0; h < H; h++) {
    float s = 0;
    for (int d = 0; d < D; d++) s += inp[(row * H + h) * D + d];
    out[row * H + h] = s;
  }
}
)",
       R"(
void entry(float* out, const float* inp, int N, int H, int D) { k<<<(N + 255) / 256, 256>>>(out, inp, N, H, D); }
)",
       {"k_row_parallel"},
       {"for (int h = 0; h < H; h++) {", "for (int d = threadIdx.x; d < D; d += blockDim.x)", "if (threadIdx.x == 0) out[row * H + h] = s;"},
       {}},
      {"grid_stride_over_rows",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < N; row += blockDim.x * gridDim.x) {
    float s = 0;
    for (int c = 0; c < C; c++) s += inp[row * C + c];
    out[row] = s;
  }
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"for (int row = blockIdx.x; row < N; row += gridDim.x) {"},
       {}},
      {"helper_variables_and_a_second_grid_axis",
       R"(__global__ void k(float* out, const float* inp, int T, int C) {
  int tid = threadIdx.x;
  int t = blockIdx.x * 64 + tid;
  int b = blockIdx.y;
  if (t >= T) return;
  const float* x = inp + ((size_t)b * T + t) * C;
  float s = 0;
  for (int c = 0; c < C; c++) s += x[c];
  out[b * T + t] = s;
}
)",
       R"(
void entry(float* out, const float* inp, int B, int T, int C) {
  dim3 grid((T + 63) / 64, B);
  k<<<grid, 64>>>(out, inp, T, C);
}
)",
       {"k_row_parallel"},
       {"int t = blockIdx.x;", "dim3 grid(T, B);"},
       {"int tid"}},
      {"in_place_and_launch_bounds",
       R"(extern "C" __global__ void __launch_bounds__(256) k(float* x, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float* p = x + row * C;
  float m = -1e38f;
  for (int c = 0; c < C; c++) m = max(m, p[c]);
  float s = 0;
  for (int c = 0; c < C; c++) { p[c] = expf(p[c] - m); s += p[c]; }
  for (int c = 0; c < C; c++) p[c] /= s;
}
)",
       R"(
void entry(float* x, int N, int C) { k<<<(N + 255) / 256, 256>>>(x, N, C); }
)",
       {"k_row_parallel"},
       {"extern \"C\" __global__ void k_row_parallel(float* x, int N, int C) {"},
       {"__launch_bounds__"}},
      {"rotates_pairs_half_a_row_apart",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float* o = out + row * C;
  const float* x = inp + row * C;
  float t;
  for (int c = 0; c < C / 2; c++) {
    t = x[c];
    o[c] = -x[c + C / 2];
    o[c + C / 2] = t;
  }
}
)",
       kLaunchOnePerRow,
       {"k_row_parallel"},
       {"for (int c = threadIdx.x; c < C / 2; c += blockDim.x)"},
       {}},
      {"kernel_shared_with_another_launcher",
       R"(// Sums rows.
__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += inp[row * C + c];
  out[row] = s;
}
)",
       R"(
void other(float* out, const float* inp) { k<<<1, 32>>>(out, inp, 32, 32); }
void entry(float* out, const float* inp, int N, int C) { k<<<(N + 255) / 256, 256>>>(out, inp, N, C); }
)",
       {"k_row_parallel"},
       {"__global__ void k(float* out", "__global__ void k_row_parallel(float* out", "k<<<1, 32>>>(out, inp, 32, 32)",
        "k_row_parallel<<<N, 256>>>(out, inp, N, C)"},
       {}},
  };
  return styles;
}

class RowParallelStyles : public testing::TestWithParam<Style> {};

TEST_P(RowParallelStyles, AreRewrittenAndCompile) {
  const Style& style = GetParam();
  const std::string source = style.kernel + style.host;
  for (const Parameters& parameters : {Parameters{}, Parameters{{"mode", "warp"}, {"rows_per_block", "8"}}}) {
    const std::string text = Apply("row_parallel", source, "entry", parameters);
    ASSERT_FALSE(text.starts_with("REFUSED") || text.starts_with("ERROR")) << text;
    EXPECT_EQ(CompileError(text, "kernel.cu", "entry", style.kernels), "") << text;
    if (!parameters.empty()) continue;
    for (const std::string& part : style.contains) EXPECT_NE(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
    for (const std::string& part : style.absent) EXPECT_EQ(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RowParallelStyles, testing::ValuesIn(Styles()), [](const auto& tested) { return tested.param.name; });

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

INSTANTIATE_TEST_SUITE_P(
    Table, RowParallelExamples,
    testing::Values(Example{"src/softmax.cu", "softmax_forward", {"softmax_forward_kernel_row_parallel"}},
                    Example{"src/layernorm.cu", "layernorm_forward", {"layernorm_forward_kernel_row_parallel"}},
                    Example{"src/row_sum.cu", "row_sum", {"row_sum_kernel_row_parallel"}},
                    Example{"src/argmax.cu", "argmax", {"argmax_kernel_row_parallel"}},
                    Example{"src/cross_entropy.cu", "cross_entropy", {"cross_entropy_kernel_row_parallel"}}));

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
)"), "entry", {{"mode", "warp"}, {"rows_per_block", "4"}}),
            R"(// The sum of one value per thread, over the warp; every thread gets it.
__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// Scales rows to length one.
__global__ void k_row_parallel(float* out, const float* inp, int N, int C) {
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
    k_row_parallel<<<(N + 3) / 4, threads>>>(out, inp, N, C);
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
  const std::string source = "__global__ void a" + kernel + "__global__ void b" + kernel +
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
)") + kLaunchOnePerRow, "entry");
  EXPECT_NE(text.find("s = block_sum2(s);"), std::string::npos) << text;
  EXPECT_EQ(CompileError(text, "kernel.cu", "entry", {"k_row_parallel"}), "");
}

}  // namespace
}  // namespace warpwright
