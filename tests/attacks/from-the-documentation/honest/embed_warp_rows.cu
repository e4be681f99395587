// One warp per id, four per block, four loads in flight per lane.
#include <cuda_runtime.h>
__global__ void __launch_bounds__(128) rows(float* out, const float* table, const int* ids, int T, int D, int V) {
  int t = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (t >= T) return;
  int id = ids[t];
  float* o = out + (size_t)t * D;
  if ((unsigned)id >= (unsigned)(V > 0 ? V : 0)) {
    for (int d = lane; d < D; d += 32) o[d] = 0.0f;
    return;
  }
  const float* r = table + (size_t)id * D;
  int d = lane;
  for (; d < D - 96; d += 128) {
    float v0 = __ldg(r + d), v1 = __ldg(r + d + 32), v2 = __ldg(r + d + 64), v3 = __ldg(r + d + 96);
    o[d] = v0; o[d + 32] = v1; o[d + 64] = v2; o[d + 96] = v3;
  }
  for (; d < D; d += 32) o[d] = __ldg(r + d);
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  rows<<<(T - 1) / 4 + 1, 128, 0, stream>>>(out, table, ids, T, D, V);
}
