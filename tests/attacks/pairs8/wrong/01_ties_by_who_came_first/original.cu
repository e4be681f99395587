#include <cuda_runtime.h>

#include <cstdint>

// best[0] is the index of the largest score; of equal ones the first.
__global__ void part_kernel(float* value, int* index, const float* x, int n) {
  __shared__ float v[256];
  __shared__ int at[256];
  float m = -INFINITY;
  int k = 0x7fffffff;
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x)
    if (x[i] > m || k == 0x7fffffff) m = x[i], k = (int)i;
  v[threadIdx.x] = m, at[threadIdx.x] = k;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      float o = v[threadIdx.x + s];
      int j = at[threadIdx.x + s];
      if (o > v[threadIdx.x] || (o == v[threadIdx.x] && j < at[threadIdx.x])) v[threadIdx.x] = o, at[threadIdx.x] = j;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) value[blockIdx.x] = v[0], index[blockIdx.x] = at[0];
}

__global__ void whole_kernel(int* best, const float* value, const int* index, int parts) {
  float m = value[0];
  int k = index[0];
  for (int b = 1; b < parts; ++b)
    if (value[b] > m || (value[b] == m && index[b] < k)) m = value[b], k = index[b];
  *best = k;
}

// ws: 2 * 256 floats, of which the second half holds indices.
void best_score(int* best, float* ws, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = n < 256 * 256 ? (n + 255) / 256 : 256;
  part_kernel<<<blocks, 256, 0, stream>>>(ws, (int*)(ws + 256), x, n);
  whole_kernel<<<1, 1, 0, stream>>>(best, ws, (const int*)(ws + 256), blocks);
}
