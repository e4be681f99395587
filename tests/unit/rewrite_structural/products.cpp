#include "products.h"

namespace warpwright::structural_test {
namespace {

const char* const kLaunch2d = R"(
void entry(float* c, const float* a, const float* b, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  k<<<grid, block>>>(c, a, b, M, N, K);
}
)";

}  // namespace

const std::vector<Product>& Products() {
  static const std::vector<Product> products = {
      {"plain",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0;
    for (int i = 0; i < K; i++) sum += a[row * K + i] * b[i * N + col];
    c[row * N + col] = sum;
  }
}
)") + kLaunch2d,
       {"k"},
       {"row < M && i < K ? a[row * K + i] : 0.0f", "col < N && i < K ? b[i * N + col] : 0.0f",
        "dim3 grid((N + 63) / 64, (M + 63) / 64);", "dim3 block(256);",
        "float sum = sums[tm][tn];\n      c[row * N + col] = sum;"},
       {}},
      {"transposed_right_operand_and_early_return",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k0 = 0; k0 < K; ++k0) sum = sum + a[row * K + k0] * b[col * K + k0];
  c[row * N + col] = sum;
}
)") + kLaunch2d,
       {"k"},
       {"right_tile[item % kTileK][item / kTileK] = col < N && k0 < K ? b[col * K + k0] : 0.0f;"},
       {}},
      {"transposed_left_operand_and_two_guards",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  if (col >= N) return;
  float sum = 0;
  for (int i = 0; i < K; i++) sum = fmaf(a[i * M + row], b[i * N + col], sum);
  c[row * N + col] = sum;
}
)") + kLaunch2d,
       {"k"},
       {"left_tile[item / kTileM][item % kTileM] = row < M && i < K ? a[i * M + row] : 0.0f;"},
       {}},
      {"row_pointers_and_scaled_update_of_the_result",
       "c:f32[M*N]:inout a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    const float* x = a + row * K;
    const float* y = b + col;
    float sum = 0.f;
    for (int i = 0; i < K; i++) { float u = x[i]; float v = y[i * N]; sum += u * v; }
    c[row * N + col] = 0.5f * sum + 2.0f * c[row * N + col];
  }
}
)") + kLaunch2d,
       {"k"},
       {"if (row < M && i < K) {\n        const float* x = a + row * K;\n        float u = x[i];\n        value = u;",
        "c[row * N + col] = 0.5f * sum + 2.0f * c[row * N + col];"},
       {}},
      {"activation_in_several_statements",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__device__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.7071f)); }
__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.f;
    for (int i = 0; i < K; i++) sum += a[row * K + i] * b[i * N + col];
    sum = gelu(sum);
    if (sum > 6.0f) {
      sum = 6.0f;
    }
    c[row * N + col] = sum;
  }
}
)") + kLaunch2d,
       {"k"},
       {"      sum = gelu(sum);\n      if (sum > 6.0f) {\n        sum = 6.0f;\n      }\n      c[row * N + col] = sum;"},
       {}},
      {"bias_starts_the_sum",
       "out:f32[3*T*OC]:out inp:f32[3*T*C]:in weight:f32[OC*C]:in bias:f32[OC]:in B T C OC sqrt_block_size",
       R"(__global__ void k(float* out, const float* inp, const float* weight, const float* bias, int BT, int C, int OC) {
  int bt = blockIdx.x * blockDim.x + threadIdx.x;
  int oc = blockIdx.y * blockDim.y + threadIdx.y;
  if (bt < BT && oc < OC) {
    float val = (bias != NULL) ? bias[oc] : 0.0f;
    const float* wrow = weight + oc * C;
    const float* inp_bt = inp + bt * C;
    for (int i = 0; i < C; i++) {
      val += inp_bt[i] * wrow[i];
    }
    out[bt * OC + oc] = val;
  }
}
void entry(float* out, const float* inp, const float* weight, const float* bias, int B, int T, int C, int OC, const int sqrt_block_size) {
  dim3 gridDim((B * T + sqrt_block_size - 1) / sqrt_block_size, (OC + sqrt_block_size - 1) / sqrt_block_size);
  dim3 blockDim(sqrt_block_size, sqrt_block_size);
  k<<<gridDim, blockDim>>>(out, inp, weight, bias, B * T, C, OC);
}
)",
       {"k"},
       {"sums[tm][tn] = (bias != NULL) ? bias[oc] : 0.0f;",
        "row_begin = blockIdx.x * kTileM, col_begin = blockIdx.y * kTileN"},
       {}},
      {"one_index_taken_apart",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= M * N) return;
  int row = idx / N;
  int col = idx % N;
  float sum = 0;
  for (int i = 0; i < K; i++) sum += a[row * K + i] * b[i * N + col];
  c[idx] = sum;
}
void entry(float* c, const float* a, const float* b, int M, int N, int K) {
  int threads = 256;
  int blocks = (M * N + threads - 1) / threads;
  k<<<blocks, threads>>>(c, a, b, M, N, K);
}
)",
       {"k"},
       {"const int idx = row * N + col;", "int blocks = (M + 63) / 64 * ((N + 63) / 64);"},
       {}},
      {"one_index_with_a_remainder",
       "A:f32[M*K]:in B:f32[K*N]:in C:f32[M*N]:out M N K",
       R"(__global__ void k(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int tid = threadIdx.x + blockIdx.x * blockDim.x;
  if (tid < M * N) {
    const int i = tid / N, j = tid - i * N;
    float s = 0.f;
    #pragma unroll 4
    for (int p = 0; p < K; ++p) { s += A[i * K + p] * B[p * N + j]; }
    C[tid] = s;
  }
}
void entry(const float* A, const float* B, float* C, int M, int N, int K) {
  const int total = M * N;
  k<<<(total + 127) / 128, 128>>>(A, B, C, M, N, K);
}
)",
       {"k"},
       {"const int tid = i * N + j;", "k<<<(M + 63) / 64 * ((N + 63) / 64), 256>>>"},
       {}},
      {"causal_scores_with_heads_in_one_index",
       "preatt:f32[3*4*T*T]:out inp:f32[3*T*3*C]:in B T C NH",
       R"(#include <math.h>
__global__ void k(float* preatt, const float* inp, int B, int T, int C, int NH) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int total_threads = B * NH * T * T;
  if (idx < total_threads) {
    int t2 = idx % T;
    int t = (idx / T) % T;
    if (t2 > t) {
      preatt[idx] = -INFINITY;
      return;
    }
    int h = (idx / (T * T)) % NH;
    int b = idx / (NH * T * T);
    int C3 = C * 3;
    int hs = C / NH;
    const float* query_t = inp + b * T * C3 + t * C3 + h * hs;
    const float* key_t2 = inp + b * T * C3 + t2 * C3 + h * hs + C;
    float val = 0.0f;
    for (int i = 0; i < hs; i++) {
      val += query_t[i] * key_t2[i];
    }
    val *= 1.0 / sqrtf(hs);
    preatt[idx] = val;
  }
}
void entry(float* preatt, const float* inp, int B, int T, int C, int NH) {
  int total = B * NH * T * T;
  k<<<(total + 255) / 256, 256>>>(preatt, inp, B, T, C, NH);
}
)",
       {"k"},
       {"int idx = blockIdx.z * (T * T);", "const int idx = (blockIdx.z * T + t) * T + t2;",
        "if (t2 > t) {\n        preatt[idx] = -INFINITY;\n        continue;\n      }",
        "k<<<dim3((T + 63) / 64 * ((T + 63) / 64), 1, B * NH), 256>>>"},
       {"total_threads"}},
      {"batches_along_z_by_moving_a_pointer",
       "c:f16[3*M*N]:out a:f16[3*M*K]:in b:f16[3*K*N]:in M N K batches",
       R"(#include <cuda_fp16.h>
__global__ void k(half* c, const half* a, const half* b, int M, int N, int K, int batches) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int batch = blockIdx.z;
  if (row < M && col < N && batch < batches) {
    a += batch * M * K;
    float sum = 0.0f;
    for (int i = 0; i < K; i++) sum += __half2float(a[row * K + i]) * __half2float(b[(batch * K + i) * N + col]);
    c[(batch * M + row) * N + col] = __float2half(sum);
  }
}
void entry(half* c, const half* a, const half* b, int M, int N, int K, int batches) {
  dim3 block(32, 8);
  dim3 grid((N + 31) / 32, (M + 7) / 8, batches);
  k<<<grid, block>>>(c, a, b, M, N, K, batches);
}
)",
       {"k"},
       {"  int batch = blockIdx.z;\n  a += batch * M * K;\n  if (batch >= batches) return;"},
       {}},
      {"batches_along_z_with_offsets",
       "c:f16[3*M*N]:out a:f16[3*M*K]:in b:f16[3*K*N]:in M N K batches",
       R"(#include <cuda_fp16.h>
__global__ void k(half* c, const half* a, const half* b, int M, int N, int K, int batches) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int batch = blockIdx.z;
  if (row < M && col < N && batch < batches) {
    const half* mine = a + batch * M * K;
    float sum = 0.0f;
    for (int i = 0; i < K; i++) sum += __half2float(mine[row * K + i]) * __half2float(b[(batch * K + i) * N + col]);
    c[(batch * M + row) * N + col] = __float2half(sum);
  }
}
void entry(half* c, const half* a, const half* b, int M, int N, int K, int batches) {
  dim3 block(32, 8);
  dim3 grid((N + 31) / 32, (M + 7) / 8, batches);
  k<<<grid, block>>>(c, a, b, M, N, K, batches);
}
)",
       {"k"},
       {"if (batch >= batches) return;", "const half* mine = a + batch * M * K;",
        "__shared__ __align__(16) float left_tile", "dim3 grid((N + 63) / 64, (M + 63) / 64, batches);"},
       {}},
      {"templates_and_wide_indices",
       "c:f64[M*N]:out a:f64[M*K]:in b:f64[K*N]:in M:i64 N:i64 K:i64",
       R"(namespace la {
template <typename T, int kUnused>
__global__ void k(T* c, const T* a, const T* b, size_t M, size_t N, size_t K) {
  const size_t row = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
  const size_t col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  T sum = T(0);
  for (size_t i = 0; i < K; ++i) sum += a[row * K + i] * b[i * N + col];
  c[row * N + col] = sum;
}
}
void entry(double* c, const double* a, const double* b, size_t M, size_t N, size_t K) {
  la::k<double, 4><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
)",
       {"la::k<double, 4>", "la::k<float, 1>"},
       {"const size_t row = row_begin + thread_row + tm;",
        "la::k<double, 4><<<dim3((N + 63) / 64, (M + 63) / 64), 256>>>"},
       {}},
      {"integers_that_widen",
       "c:i32[M*N]:out a:i8[M*K]:in b:i8[K*N]:in M N K",
       R"(__global__ void k(int* c, const signed char* a, const signed char* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    int acc = 0;
    for (int i = 0; i < K; i++) acc += a[row * K + i] * b[i * N + col];
    c[row * N + col] = acc;
  }
}
void entry(int* c, const signed char* a, const signed char* b, int M, int N, int K) {
  k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
)",
       {"k"},
       {"__shared__ __align__(16) signed char left_tile", "int sums[kThreadM][kThreadN] = {};"},
       {}},
      {"scaled_factors",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0;
    for (int i = 0; i < K; i++) acc += 0.125f * a[row * K + i] * b[i * N + col];
    c[row * N + col] = acc;
  }
}
)") + kLaunch2d,
       {"k"},
       {"row < M && i < K ? 0.125f * a[row * K + i] : 0.0f"},
       {}},
      {"names_that_the_source_uses",
       "c:f32[M*N]:out a:f32[M*K]:in b:f32[K*N]:in M N K",
       std::string(R"(#define kTileM 7
__global__ void k(float* c, const float* a, const float* b, int M, int N, int K) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M && j < N) {
    float sums = 0;
    for (int item = 0; item < K; item++) sums += a[i * K + item] * b[item * N + j];
    c[i * N + j] = sums + kTileM;
  }
}
)") + kLaunch2d,
       {"k"},
       {"constexpr int kTileM2 = 64", "float sums = sums2[tm][tn];"},
       {}},
  };
  return products;
}

}  // namespace warpwright::structural_test
