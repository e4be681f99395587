#include <cuda_bf16.h>
#include <cuda_runtime.h>


// A block has 16 columns and 64 rows at a time, and adds up over its rows at the end.
__global__ void __launch_bounds__(1024)
    parameter_gradients(float* dgamma, float* dbeta, const __nv_bfloat16* dy, const __nv_bfloat16* x,
                        const float* mean, const float* rstd, int N, int D) {
  __shared__ float gs[64][17], bs[64][17];
  int tx = threadIdx.x, ty = threadIdx.y, d = blockIdx.x * 16 + tx;
  float g = 0.0f, b = 0.0f;
  if (d < D)
    for (int n = ty; n < N; n += 64) {
      float v = __bfloat162float(dy[(size_t)n * D + d]);
      g += v * ((__bfloat162float(x[(size_t)n * D + d]) - mean[n]) * rstd[n]);
      b += v;
    }
  gs[ty][tx] = g;
  bs[ty][tx] = b;
  __syncthreads();
  for (int o = 32; o > 0; o /= 2) {
    if (ty < o) {
      gs[ty][tx] += gs[ty + o][tx];
      bs[ty][tx] += bs[ty + o][tx];
    }
    __syncthreads();
  }
  if (ty == 0 && d < D) {
    dgamma[d] = gs[0][tx];
    dbeta[d] = bs[0][tx];
  }
}

// A warp per row, eight rows per block.
__global__ void __launch_bounds__(256)
    input_gradient(__nv_bfloat16* dx, const __nv_bfloat16* dy, const __nv_bfloat16* x, const float* mean,
                   const float* rstd, const float* gamma, int N, int D) {
  int lane = threadIdx.x % 32;
  size_t n = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (n >= (size_t)N) return;
  size_t base = n * D;
  float mu = mean[n], r = rstd[n], s = 0.0f, p = 0.0f;
  for (int d = lane; d < D; d += 32) {
    float g = __bfloat162float(dy[base + d]) * gamma[d];
    s += g;
    p += g * ((__bfloat162float(x[base + d]) - mu) * r);
  }
  for (int o = 16; o > 0; o /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, o);
    p += __shfl_xor_sync(0xffffffffu, p, o);
  }
  s /= D;
  p /= D;
  for (int d = lane; d < D; d += 32) {
    float g = __bfloat162float(dy[base + d]) * gamma[d];
    float normal = (__bfloat162float(x[base + d]) - mu) * r;
    dx[base + d] = __float2bfloat16((g - s - normal * p) * r);
  }
}

// Gradients of y = (x - mean) * rstd * gamma + beta along rows.
void layernorm_backward(__nv_bfloat16* dx, float* dgamma, float* dbeta, const __nv_bfloat16* dy, const __nv_bfloat16* x,
                        const float* mean, const float* rstd, const float* gamma, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  parameter_gradients<<<(D + 15) / 16, dim3(16, 64), 0, stream>>>(dgamma, dbeta, dy, x, mean, rstd, N, D);
  input_gradient<<<(unsigned)(((size_t)N + 7) / 8), 256, 0, stream>>>(dx, dy, x, mean, rstd, gamma, N, D);
}
