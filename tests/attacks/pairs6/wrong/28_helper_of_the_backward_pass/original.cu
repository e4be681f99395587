#include <cuda_runtime.h>


// The sum over the block, for all of its 256 threads.
__device__ float block_sum(float v) {
  __shared__ float part[256];
  part[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  v = part[0];
  __syncthreads();
  return v;
}

// y[r] = x[r] / sqrt(mean of squares + eps)
__global__ void rmsnorm_kernel(float* y, const float* x, int C, float eps) {
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) s += in[c] * in[c];
  float scale = 1.0f / sqrtf(block_sum(s) / C + eps);
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
