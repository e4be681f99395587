#include <cuda_runtime.h>



// y = x / sqrt(mean of squares + eps), with the sum of squares for the log. Called for several tensors at once, on a stream each.
__global__ void squares_kernel(float* squares, const float* x, int n) {
  __shared__ float parts[1024];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < n && i >= 0; i += 1024) sum += x[i] * x[i];
  parts[t] = sum;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) squares[0] = parts[0];
}

__global__ void scale_kernel(float* y, const float* x, const float* squares, int n, float eps) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / sqrtf(squares[0] / n + eps);
}

void normalize_all(float* y, float* squares, const float* x, int n, float eps, cudaStream_t stream) {
  if (n <= 0) return;
  squares_kernel<<<1, 1024, 0, stream>>>(squares, x, n);
  scale_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, x, squares, n, eps);
}
