#include <cuda_runtime.h>


// The sum over the block, for its first thread: shuffles, one barrier.
__device__ float block_sum(float v) {
  __shared__ float part[8];
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < 8; ++w) v += part[w];
  return v;
}

// y[r] = x[r] / sqrt(mean of squares + eps)
__global__ void __launch_bounds__(256) rmsnorm_kernel(float* y, const float* x, int C, float eps) {
  __shared__ float scale;
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) s += in[c] * in[c];
  s = block_sum(s);
  if (threadIdx.x == 0) scale = 1.0f / sqrtf(s / C + eps);
  __syncthreads();
  for (int c = threadIdx.x; c < C; c += 256) out[c] = in[c] * scale;
}

void rmsnorm_forward(float* y, const float* x, int R, int C, float eps, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  rmsnorm_kernel<<<R, 256, 0, stream>>>(y, x, C, eps);
}

// dx[r] = scale (dy[r] - x[r] (dy[r] . x[r]) scale^2 / C)
__global__ void rmsnorm_backward_kernel(float* dx, const float* dy, const float* x, int C, float eps) {
  const float* in = x + (size_t)blockIdx.x * C;
  const float* grad = dy + (size_t)blockIdx.x * C;
  float* out = dx + (size_t)blockIdx.x * C;
  float s = 0.0f, dot = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    s += in[c] * in[c];
    dot += in[c] * grad[c];
  }
  float scale = 1.0f / sqrtf(block_sum(s) / C + eps);
  float factor = block_sum(dot) * scale * scale / C;
  for (int c = threadIdx.x; c < C; c += 256) out[c] = scale * (grad[c] - in[c] * factor);
}

void rmsnorm_backward(float* dx, const float* dy, const float* x, int R, int C, float eps, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  rmsnorm_backward_kernel<<<R, 256, 0, stream>>>(dx, dy, x, C, eps);
}
