#include <cuda_runtime.h>


// y[B,H,T,D] = x[B,T,H,D]; any sizes, also of more than 2^31 elements.
__global__ void swap_kernel(float* y, const float* x, long long B, long long T, long long H, long long D) {
  long long n = B * T * H * D;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    long long d = i % D, t = i / D % T, h = i / D / T % H, b = i / D / T / H;
    y[i] = x[((b * T + t) * H + h) * D + d];
  }
}

void swap_heads(float* y, const float* x, int B, int T, int H, int D, cudaStream_t stream) {
  swap_kernel<<<512, 256, 0, stream>>>(y, x, B, T, H, D);
}
