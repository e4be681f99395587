#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out[i] = sum of w[k + radius] * x[i + k] for |k| <= radius, zeros outside of x (n floats). Blocks keep their part of x with
// a halo on both sides in shared memory.
constexpr int BLOCK = 64;

__global__ void __launch_bounds__(BLOCK) conv1d_kernel(float* out, const float* x, const float* w, int n, int radius) {
  extern __shared__ float tile[];  // radius, BLOCK, radius
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  tile[radius + t] = i < n ? x[i] : 0.0f;
  if (t < radius) {
    int left = i - radius, right = i + BLOCK;
    tile[t] = left >= 0 && left < n ? x[left] : 0.0f;
    tile[radius + BLOCK + t] = right < n ? x[right] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; ++k) sum = fmaf(w[k], tile[t + k], sum);
  out[i] = sum;
}

void conv1d(float* out, const float* x, const float* w, int n, int radius) {
  if (n > 0) conv1d_kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK, (BLOCK + 2 * radius) * sizeof(float)>>>(out, x, w, n, radius);
}
