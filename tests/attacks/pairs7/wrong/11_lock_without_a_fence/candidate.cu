#include <cuda_runtime.h>



// Many blocks; each puts its largest value into the result if that is smaller, one after the other behind a lock.
__global__ void begin_kernel(float* value, int* place, int* lock) {
  value[0] = -INFINITY;
  place[0] = 0;
  lock[0] = 0;
}

__global__ void __launch_bounds__(256) largest_kernel(float* value, int* place, int* lock, const float* x, int n) {
  __shared__ float values[8];
  __shared__ int places[8];
  int t = threadIdx.x, at = 0;
  float best = -INFINITY;
  for (long long i = (long long)blockIdx.x * 256 + t; i < n; i += (long long)gridDim.x * 256)
    if (x[i] > best) best = x[i], at = (int)i;
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_xor_sync(~0u, best, d);
    int there = __shfl_xor_sync(~0u, at, d);
    if (other > best || (other == best && there < at)) best = other, at = there;
  }
  if (t % 32 == 0) values[t / 32] = best, places[t / 32] = at;
  __syncthreads();
  if (t > 0) return;
  for (int w = 1; w < 8; ++w)
    if (values[w] > best || (values[w] == best && places[w] < at)) best = values[w], at = places[w];
  volatile float* largest = value;
  volatile int* where = place;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  float known = *largest;
  if (best > known || (best == known && at < *where)) {
    *largest = best;
    *where = at;
  }
  atomicExch(lock, 0);
}

void largest_of_all(float* value, int* place, const float* x, int n, cudaStream_t stream) {
  int* lock = nullptr;
  cudaMallocAsync(&lock, sizeof(int), stream);
  begin_kernel<<<1, 1, 0, stream>>>(value, place, lock);
  long long needed = ((long long)n + 1023) / 1024;
  if (n > 0)
    largest_kernel<<<(unsigned)(needed < 1056 ? needed : 1056), 256, 0, stream>>>(value, place, lock, x, n);
  cudaFreeAsync(lock, stream);
}
