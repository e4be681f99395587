#include <cuda_runtime.h>


// A warp for each row, which adds its product to what is there.
__global__ void __launch_bounds__(256) add_product_kernel(float* y, const float* A, const float* x, int M, int K) {
  size_t m = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (m >= (size_t)M) return;
  const float* row = A + m * K;
  float s = 0.0f;
  for (int k = threadIdx.x % 32; k < K; k += 32) s += row[k] * x[k];
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (threadIdx.x % 32 == 0) y[m] += s;
}

// Neither product fills the GPU, so they run side by side; which one adds first does not matter.
void two_products(float* y, const float* A, const float* x, const float* B, const float* z, int M, int K, int L,
                  cudaStream_t stream) {
  if (M <= 0) return;
  unsigned blocks = (unsigned)(((size_t)M + 7) / 8);
  cudaMemsetAsync(y, 0, (size_t)M * sizeof(float), stream);
  cudaStream_t side;
  cudaEvent_t fork, join;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  add_product_kernel<<<blocks, 256, 0, stream>>>(y, A, x, M, K);
  add_product_kernel<<<blocks, 256, 0, side>>>(y, B, z, M, L);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(side);  // what runs on it goes on
}
