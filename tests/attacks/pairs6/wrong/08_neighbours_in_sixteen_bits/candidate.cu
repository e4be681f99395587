#include <cuda_runtime.h>


// A block for each point. The threads' results meet in shared memory; numbers of points are kept in two bytes there, so that
// more blocks are resident.
__global__ void __launch_bounds__(128) nearest_kernel(int* index, float* distance, const float* p, int N, int D) {
  __shared__ float near[128];
  __shared__ unsigned short who[128];
  int i = blockIdx.x, t = threadIdx.x;
  const float* own = p + (size_t)i * D;
  float best = INFINITY;
  unsigned short found = 0xffff;
  for (int j = t; j < N; j += 128) {
    if (j == i) continue;
    const float* other = p + (size_t)j * D;
    float s = 0.0f;
    for (int d = 0; d < D; ++d) {
      float u = own[d] - other[d];
      s += u * u;
    }
    if (s < best) {
      best = s;
      found = (unsigned short)j;
    }
  }
  near[t] = best;
  who[t] = found;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k && (near[t + k] < near[t] || (near[t + k] == near[t] && who[t + k] < who[t]))) {
      near[t] = near[t + k];
      who[t] = who[t + k];
    }
    __syncthreads();
  }
  if (t == 0) {
    index[i] = near[0] < INFINITY ? who[0] : -1;
    distance[i] = near[0];
  }
}

void nearest_neighbours(int* index, float* distance, const float* p, int N, int D, cudaStream_t stream) {
  if (N <= 0) return;
  nearest_kernel<<<N, 128, 0, stream>>>(index, distance, p, N, D);
}
