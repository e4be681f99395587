#include <cuda_bf16.h>
#include <cuda_runtime.h>


__global__ void parameter_gradients(float* dgamma, float* dbeta, const __nv_bfloat16* dy, const __nv_bfloat16* x,
                                    const float* mean, const float* rstd, int N, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= D) return;
  float g = 0.0f, b = 0.0f;
  for (int n = 0; n < N; ++n) {
    float v = __bfloat162float(dy[(size_t)n * D + d]);
    g += v * ((__bfloat162float(x[(size_t)n * D + d]) - mean[n]) * rstd[n]);
    b += v;
  }
  dgamma[d] = g;
  dbeta[d] = b;
}

__global__ void input_gradient(__nv_bfloat16* dx, const __nv_bfloat16* dy, const __nv_bfloat16* x, const float* mean,
                               const float* rstd, const float* gamma, int D) {
  __shared__ float sums[256], products[256];
  int n = blockIdx.x;
  size_t base = (size_t)n * D;
  float s = 0.0f, p = 0.0f;
  for (int d = threadIdx.x; d < D; d += 256) {
    float g = __bfloat162float(dy[base + d]) * gamma[d];
    s += g;
    p += g * ((__bfloat162float(x[base + d]) - mean[n]) * rstd[n]);
  }
  sums[threadIdx.x] = s;
  products[threadIdx.x] = p;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) {
      sums[threadIdx.x] += sums[threadIdx.x + o];
      products[threadIdx.x] += products[threadIdx.x + o];
    }
    __syncthreads();
  }
  s = sums[0] / D;
  p = products[0] / D;
  for (int d = threadIdx.x; d < D; d += 256) {
    float g = __bfloat162float(dy[base + d]) * gamma[d];
    float normal = (__bfloat162float(x[base + d]) - mean[n]) * rstd[n];
    dx[base + d] = __float2bfloat16((g - s - normal * p) * rstd[n]);
  }
}

// Gradients of y = (x - mean) * rstd * gamma + beta along rows.
void layernorm_backward(__nv_bfloat16* dx, float* dgamma, float* dbeta, const __nv_bfloat16* dy, const __nv_bfloat16* x,
                        const float* mean, const float* rstd, const float* gamma, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  parameter_gradients<<<(D + 127) / 128, 128, 0, stream>>>(dgamma, dbeta, dy, x, mean, rstd, N, D);
  input_gradient<<<N, 256, 0, stream>>>(dx, dy, x, mean, rstd, gamma, D);
}
