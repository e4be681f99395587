#include <cuda_runtime.h>


// out[r] = (|x[r,0]|^p + ... + |x[r,C-1]|^p)^(1/p); for p = INFINITY the largest |x[r,c]|.
__global__ void norm_kernel(float* out, const float* x, int C, float p) {
  __shared__ float part[256];
  const float* row = x + (size_t)blockIdx.x * C;
  bool largest = isinf(p);
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = fabsf(row[c]);
    s = largest ? fmaxf(s, v) : s + powf(v, p);
  }
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      float a = part[threadIdx.x], b = part[threadIdx.x + k];
      part[threadIdx.x] = largest ? fmaxf(a, b) : a + b;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = largest ? part[0] : powf(part[0], 1.0f / p);
}

void row_norms(float* out, const float* x, int R, int C, float p, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  norm_kernel<<<R, 256, 0, stream>>>(out, x, C, p);
}
