#include <cuda_runtime.h>



// The largest value and its place, the first of equal ones; -infinity and 0 where nothing is larger.
__global__ void largest_kernel(float* value, int* place, const float* x, int n) {
  __shared__ float values[1024];
  __shared__ int places[1024];
  int t = threadIdx.x, at = 0;
  float best = -INFINITY;
  for (long long i = t; i < n; i += 1024)
    if (x[i] > best) best = x[i], at = (int)i;
  values[t] = best;
  places[t] = at;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) {
      float other = values[t + half];
      int there = places[t + half];
      if (other > values[t] || (other == values[t] && there < places[t])) values[t] = other, places[t] = there;
    }
    __syncthreads();
  }
  if (t == 0) value[0] = values[0], place[0] = places[0];
}

void largest_of_all(float* value, int* place, const float* x, int n, cudaStream_t stream) {
  largest_kernel<<<1, 1024, 0, stream>>>(value, place, x, n);
}
