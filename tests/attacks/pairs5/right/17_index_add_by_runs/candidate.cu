#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A thread has one column of 16 rows of x. As long as the index stays the same it adds in a register; sorted indices, and padding, need a
// fraction of the atomics, others as many as before.
__global__ void __launch_bounds__(128)
    index_add_kernel(float* out, const int* __restrict__ index, const __half* __restrict__ x, int V, int N, int D,
                     int tiles_d) {
  __shared__ int rows[16];
  size_t n0 = (size_t)(blockIdx.x / tiles_d) * 16;
  size_t d = (size_t)(blockIdx.x % tiles_d) * 128 + threadIdx.x;
  if (threadIdx.x < 16) rows[threadIdx.x] = n0 + threadIdx.x < (size_t)N ? index[n0 + threadIdx.x] : -1;
  __syncthreads();
  if (d >= (size_t)D) return;
  int run = -1;
  float sum = 0.0f;
  for (int j = 0; j < 16; ++j) {
    int row = rows[j];
    if (row < 0 || row >= V) continue;
    float v = __half2float(x[(n0 + j) * D + d]);
    if (row == run) {
      sum += v;
    } else {
      if (run >= 0) atomicAdd(&out[(size_t)run * D + d], sum);
      run = row;
      sum = v;
    }
  }
  if (run >= 0) atomicAdd(&out[(size_t)run * D + d], sum);
}

void index_add(float* out, const int* index, const __half* x, int V, int N, int D, cudaStream_t stream) {
  if (V <= 0 || N <= 0 || D <= 0) return;
  size_t tiles_n = ((size_t)N + 15) / 16;
  int tiles_d = (int)(((size_t)D + 127) / 128);
  index_add_kernel<<<(unsigned)(tiles_n * tiles_d), 128, 0, stream>>>(out, index, x, V, N, D, tiles_d);
}
