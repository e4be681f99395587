#include <cuda_runtime.h>


// The nearest other point of each point p[N,D]: its number (of equally near ones the first; -1 without any) and squared distance.
__global__ void nearest_kernel(int* index, float* distance, const float* p, int N, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float best = INFINITY;
  int found = -1;
  for (int j = 0; j < N; ++j) {
    if (j == i) continue;
    float s = 0.0f;
    for (int d = 0; d < D; ++d) {
      float t = p[(size_t)i * D + d] - p[(size_t)j * D + d];
      s += t * t;
    }
    if (s < best) {
      best = s;
      found = j;
    }
  }
  index[i] = found;
  distance[i] = best;
}

void nearest_neighbours(int* index, float* distance, const float* p, int N, int D, cudaStream_t stream) {
  if (N <= 0) return;
  nearest_kernel<<<(unsigned)(((size_t)N + 127) / 128), 128, 0, stream>>>(index, distance, p, N, D);
}
