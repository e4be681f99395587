#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(expr)                                                                  \
  do {                                                                                    \
    cudaError_t status_ = (expr);                                                         \
    if (status_ != cudaSuccess) {                                                         \
      fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(status_), __FILE__, __LINE__); \
      abort();                                                                            \
    }                                                                                     \
  } while (0)

static __device__ inline float sigmoid(float v) { return 1.f / (1.f + expf(-v)); }

// gates[b, 4H] = x * w_ih^T + b_ih + h * w_hh^T + b_hh, 32 x 32 tiles, order of gates i, f, g, o
__global__ void lstm_gates_kernel(const float* x, const float* h, const float* w_ih, const float* w_hh,
                                  const float* b_ih, const float* b_hh, float* gates,
                                  int64_t batch, int64_t input, int64_t hidden) {
  __shared__ float sa[32][33];
  __shared__ float sw[32][33];
  const int64_t row = (int64_t)blockIdx.y * 32 + threadIdx.y;
  const int64_t col = (int64_t)blockIdx.x * 32 + threadIdx.x;
  const int64_t wrow = (int64_t)blockIdx.x * 32 + threadIdx.y;

  float acc = 0.f;
  for (int part = 0; part < 2; part++) {
    const float* a = part == 0 ? x : h;
    const float* w = part == 0 ? w_ih : w_hh;
    const int64_t len = part == 0 ? input : hidden;
    for (int64_t k0 = 0; k0 < len; k0 += 32) {
      const int64_t k = k0 + threadIdx.x;
      sa[threadIdx.y][threadIdx.x] = row < batch && k < len ? a[row * len + k] : 0.f;
      sw[threadIdx.y][threadIdx.x] = wrow < 4 * hidden && k < len ? w[wrow * len + k] : 0.f;
      __syncthreads();
      for (int i = 0; i < 32; i++) acc += sa[threadIdx.y][i] * sw[threadIdx.x][i];
      __syncthreads();
    }
  }
  if (row < batch && col < 4 * hidden) gates[row * 4 * hidden + col] = acc + b_ih[col] + b_hh[col];
}

// the cell state is updated in place
__global__ void lstm_update_kernel(const float* gates, float* c, float* h_out, int64_t batch, int64_t hidden) {
  const int64_t idx = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= batch * hidden) return;
  const int64_t b = idx / hidden;
  const int64_t j = idx % hidden;
  const float* g = gates + b * 4 * hidden;
  const float gi = sigmoid(g[j]);
  const float gf = sigmoid(g[hidden + j]);
  const float gg = tanhf(g[2 * hidden + j]);
  const float go = sigmoid(g[3 * hidden + j]);
  const float cell = gf * c[idx] + gi * gg;
  c[idx] = cell;
  h_out[idx] = go * tanhf(cell);
}

void lstm_cell(const float* x, const float* h, float* c, const float* w_ih, const float* w_hh,
               const float* b_ih, const float* b_hh, float* gates, float* h_out,
               int batch, int input, int hidden) {
  const dim3 block(32, 32);
  const dim3 grid((4 * hidden + 31) / 32, (batch + 31) / 32);
  lstm_gates_kernel<<<grid, block>>>(x, h, w_ih, w_hh, b_ih, b_hh, gates, batch, input, hidden);
  CUDA_CHECK(cudaGetLastError());
  const int64_t n = (int64_t)batch * hidden;
  lstm_update_kernel<<<(unsigned)((n + 255) / 256), 256>>>(gates, c, h_out, batch, hidden);
  CUDA_CHECK(cudaGetLastError());
}
