#include "row_styles.h"

namespace warpwright::structural_test {
namespace {

const char* const kLaunchOnePerRow = R"(
void entry(float* out, const float* inp, int N, int C) {
  const int threads = 128;
  k<<<(N + threads - 1) / threads, threads>>>(out, inp, N, C);
}
)";

}  // namespace

const std::vector<Style>& RowStyles() {
  static const std::vector<Style> styles = {
      {"early_return_and_flat_index",
       "out:f32[N]:out inp:f32[N*C]:in N C",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; ++c) s = s + inp[row * C + c];
  out[row] = s / C;
}
)",
       kLaunchOnePerRow,
       {"k"},
       {"int row = blockIdx.x;",
        "for (int c = threadIdx.x; c < C; c += blockDim.x) s = s + inp[row * C + c];\n  s = block_sum(s);",
        "if (threadIdx.x == 0) out[row] = s / C;", "k<<<N, threads>>>", "const int threads = 256;"},
       {}},
      {"sums_over_several_planes_are_combined_once",
       "out:f32[N]:out inp:f32[P*N*C]:in N C P=3",
       R"(__global__ void k(float* out, const float* inp, int N, int C, int P) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0.0f, low = inp[row * C];
  for (int p = 0; p < P; p++) {
    const float* x = inp + (p * N + row) * C;
    for (int c = 0; c < C; c++) sum += x[c];
    for (int c = 0; c < C; c++) sum += x[c] * x[c];
    for (int c = 0; c < C; c++) low = fminf(low, x[c]);
    if (low < 0.0f) low = 0.0f;
  }
  out[row] = sum * low;
}
)",
       R"(
void entry(float* out, const float* inp, int N, int C, int P) {
  k<<<(N + 127) / 128, 128>>>(out, inp, N, C, P);
}
)",
       {"k"},
       {"    if (low < 0.0f) low = 0.0f;\n  }\n  sum = block_sum(sum);\n",
        "low = fminf(low, x[c]);\n    low = block_min(low);"},
       {"sum += x[c];\n    sum = block_sum", "    sum = block_sum"}},
      {"first_element_starts_the_maximum",
       "out:f32[N]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"float m = x[0];", "for (int c = 1 + threadIdx.x; c < C; c += blockDim.x)", "m = block_max(m);",
        "value = fmaxf(value, other);"},
       {}},
      {"two_reductions_in_one_loop",
       "out:f32[N]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"sum = block_sum(sum);", "low = block_min(low);"},
       {}},
      {"reduction_continues_over_two_loops",
       "out:f32[N]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"if (threadIdx.x != 0) s = 0.0f;", "for (int c = (C / 2) + (int)threadIdx.x; c < C; c += blockDim.x)"},
       {}},
      {"template_accumulator",
       "out:f64[N]:out inp:f64[N*C]:in N C",
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
       {"k<double, double>", "k<float, double>"},
       {"template <typename T>\n__device__ __forceinline__ T block_sum(T value)", "k<double, double><<<N, 256>>>"},
       {}},
      {"half_with_float_sums",
       "out:f16[rows*cols]:out inp:f16[rows*cols]:in weight:f16[cols]:in rows cols",
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
       {"k"},
       {"sq = block_sum(sq);", "k<<<rows, 256>>>"},
       {}},
      {"argmin_with_last_index",
       "out:i32[N]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"block_argmin(best, at);", "other < value || (other == value && other_index > index)"},
       {}},
      {"counts_and_bits",
       "out:i32[N]:out inp:i32[N*C]:in N C limit",
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
       {"k"},
       {"count = block_sum(count);", "bits = block_or(bits);"},
       {}},
      {"compressed_rows",
       "y:f32[n]:inout start:i32[n+1]:in column:i32[n*C]:in value:f32[n*C]:in x:f32[n]:in n",
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
       {"k"},
       {"for (int j = begin + (int)threadIdx.x; j < end; j += blockDim.x)", "if (threadIdx.x == 0) y[row] += dot;"},
       {}},
      {"uniform_branch_and_early_out",
       "out:f32[N*C]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"if (threadIdx.x == 0) out[row * C] = 0.0f;\n    return;"},
       {}},
      {"barrier_where_columns_are_read_in_another_order",
       "out:f32[N*C]:out inp:f32[N*C]:in N C",
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
       {"k"},
       {"float s = 0;\n  __syncthreads();\n  for", "if (threadIdx.x == 0) out[row * C] = s;"},
       {}},
      {"heads_outside_columns_inside",
       "out:f32[N*3]:out inp:f32[N*3*C]:in N H D",
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
       {"k"},
       {"for (int h = 0; h < H; h++) {", "for (int d = threadIdx.x; d < D; d += blockDim.x)",
        "if (threadIdx.x == 0) out[row * H + h] = s;"},
       {}},
      {"grid_stride_over_rows",
       "out:f32[N]:out inp:f32[N*C]:in N C",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < N; row += blockDim.x * gridDim.x) {
    float s = 0;
    for (int c = 0; c < C; c++) s += inp[row * C + c];
    out[row] = s;
  }
}
)",
       kLaunchOnePerRow,
       {"k"},
       {"for (int row = blockIdx.x; row < N; row += gridDim.x) {"},
       {}},
      {"helper_variables_and_a_second_grid_axis",
       "out:f32[2*T]:out inp:f32[2*T*C]:in B=2 T C",
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
       {"k"},
       {"int t = blockIdx.x;", "dim3 grid(T, B);"},
       {"int tid"}},
      {"in_place_and_launch_bounds",
       "x:f32[N*C]:inout N C",
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
       {"k"},
       {"extern \"C\" __global__ void k(float* x, int N, int C) {"},
       {"__launch_bounds__"}},
      {"rotates_pairs_half_a_row_apart",
       "out:f32[N*C]:inout inp:f32[N*C]:in N C",
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
       {"k"},
       {"for (int c = threadIdx.x; c < C / 2; c += blockDim.x)"},
       {}},
      {"causal_softmax_with_heads",
       "att:f32[2*3*T*T]:out preatt:f32[2*3*T*T]:in B=2 T NH=3 block_size=64",
       R"(#include <float.h>
__global__ void k(float* att, const float* preatt, int B, int T, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total_threads = B * T * NH;
    if (idx < total_threads) {
        int h = idx % NH;
        int t = (idx / NH) % T;
        int b = idx / (NH * T);
        const float* preatt_bth = preatt + b*NH*T*T + h*T*T + t*T;
        float* att_bth = att + b*NH*T*T + h*T*T + t*T;
        // find maxval
        float maxval = -FLT_MAX;
        for (int t2 = 0; t2 <= t; t2++) {
            if (preatt_bth[t2] > maxval) {
                maxval = preatt_bth[t2];
            }
        }
        // calculate the exp and keep track of sum
        float expsum = 0.0f;
        for (int t2 = 0; t2 <= t; t2++) {
            float expv = expf(preatt_bth[t2] - maxval);
            expsum += expv;
            att_bth[t2] = expv;
        }
        float expsum_inv = expsum == 0.0f ? 0.0f : 1.0f / expsum;
        // normalize to get the softmax
        for (int t2 = 0; t2 < T; t2++) {
            if (t2 <= t) {
                att_bth[t2] *= expsum_inv;
            } else {
                // causal attention mask. not strictly necessary to set to zero here
                att_bth[t2] = 0.0f;
            }
        }
    }
}
)",
       R"(
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
void entry(float* att, const float* preatt, int B, int T, int NH, const int block_size) {
  int num_blocks = CEIL_DIV(B * T * NH, block_size);
  k<<<num_blocks, block_size>>>(att, preatt, B, T, NH);
}
)",
       {"k"},
       {"for (int t2 = threadIdx.x; t2 <= t; t2 += blockDim.x) {", "int num_blocks = B * T * NH;",
        "k<<<num_blocks, 256>>>"},
       {}},
      {"rows_of_values_summed_over_time",
       "out:f32[2*T*C]:inout att:f32[2*3*T*T]:in inp:f32[2*T*C*3]:in B=2 T C NH=3",
       R"(__global__ void k(float* out, const float* att, const float* inp, int B, int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total_threads = B * T * NH;
    if (idx < total_threads) {
        int h = idx % NH;
        int t = (idx / NH) % T;
        int b = idx / (NH * T);
        int C3 = C*3;
        int hs = C / NH; // head size
        float* out_bth = out + b * T * C + t * C + h * hs;
        const float* att_bth = att + b*NH*T*T + h*T*T + t*T;
        for (int i = 0; i < hs; i++) { out_bth[i] = 0.0f; }
        for (int t2 = 0; t2 <= t; t2++) {
            const  float* value_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C*2; // +C*2 because it's value
            float att_btht2 = att_bth[t2];
            for (int i = 0; i < hs; i++) {
                out_bth[i] += att_btht2 * value_t2[i];
            }
        }
    }
}
)",
       R"(
void entry(float* out, const float* att, const float* inp, int B, int T, int C, int NH) {
  k<<<(B * T * NH + 255) / 256, 256>>>(out, att, inp, B, T, C, NH);
}
)",
       {"k"},
       {"for (int t2 = 0; t2 <= t; t2++) {", "for (int i = threadIdx.x; i < hs; i += blockDim.x) {"},
       {"__syncthreads"}},
      {"layer_norm_backward",
       "dinp:f32[2*T*C]:inout dout:f32[2*T*C]:in inp:f32[2*T*C]:in weight:f32[C]:in mean:f32[2*T]:in rstd:f32[2*T]:in "
       "B=2 T C",
       R"(__global__ void k(float* dinp, float* dout, float* inp, float* weight, float* mean, float* rstd, int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B*T) return;
    int b = idx / T;
    int t = idx % T;
    float* dout_bt = dout + b * T * C + t * C;
    float* inp_bt = inp + b * T * C + t * C;
    float* dinp_bt = dinp + b * T * C + t * C;
    float mean_bt = mean[b * T + t];
    float rstd_bt = rstd[b * T + t];
    float dnorm_mean = 0.0f;
    float dnorm_norm_mean = 0.0f;
    for (int i = 0; i < C; i++) {
        float norm_bti = (inp_bt[i] - mean_bt) * rstd_bt;
        float dnorm_i = weight[i] * dout_bt[i];
        dnorm_mean += dnorm_i;
        dnorm_norm_mean += dnorm_i * norm_bti;
    }
    dnorm_mean = dnorm_mean / C;
    dnorm_norm_mean = dnorm_norm_mean / C;
    for (int i = 0; i < C; i++) {
        float norm_bti = (inp_bt[i] - mean_bt) * rstd_bt;
        float dnorm_i = weight[i] * dout_bt[i];
        float dval = 0.0f;
        dval += dnorm_i;
        dval -= dnorm_mean;
        dval -= norm_bti * dnorm_norm_mean;
        dval *= rstd_bt;
        dinp_bt[i] += dval;
    }
}
)",
       R"(
void entry(float* dinp, float* dout, float* inp, float* weight, float* mean, float* rstd, int B, int T, int C) {
  k<<<(B * T + 255) / 256, 256>>>(dinp, dout, inp, weight, mean, rstd, B, T, C);
}
)",
       {"k"},
       {"dnorm_mean = block_sum(dnorm_mean);", "dnorm_norm_mean = block_sum(dnorm_norm_mean);", "k<<<B*T, 256>>>"},
       {}},
      {"unrolled_loops_and_columns_declared_outside",
       "out:f32[N]:out inp:f32[N*C]:in N C",
       R"(__global__ void k(float* out, const float* inp, int N, int C) {
  const auto row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  int c;
  float s = 1.0f, v;
  #pragma unroll 4
  for (c = 0; c < C; c++) {
    v = inp[row * C + c];
    s += v * v;
  }
  #pragma unroll
  for (c = 0; c < C; c += 2) s -= inp[row * C + c];
  if (C > 4)
    for (c = 4; c < C; c++) s += 0.5f * inp[row * C + c];
  out[row] = s;
}
)",
       kLaunchOnePerRow,
       {"k"},
       {"const auto row = static_cast<",
        "  if (threadIdx.x != 0) s = 0.0f;  // only one thread keeps what was there before\n  #pragma unroll 4\n  for",
        "for (c = threadIdx.x * 2; c < C; c += blockDim.x * 2) s -= ", "s = block_sum(s); }"},
       {}},
      {"kernel_shared_with_another_launcher",
       "out:f32[N]:out inp:f32[N*C]:in N C",
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

}  // namespace warpwright::structural_test
