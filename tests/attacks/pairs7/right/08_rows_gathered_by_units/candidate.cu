#include <cuda_runtime.h>



// A warp copies whole rows, in units of 16, 8 or 4 bytes, whatever rows and pointers are aligned for. Its lanes read 32 ids at once and
// pass them on.
template <typename Unit>
__global__ void __launch_bounds__(256)
    gather_kernel(Unit* y, const Unit* table, const long long* ids, int T, int V, int units) {
  int lane = threadIdx.x % 32;
  unsigned first = blockIdx.x * 8 + threadIdx.x / 32, warps = gridDim.x * 8;
  for (size_t t0 = (size_t)first * 32; t0 < (size_t)T; t0 += (size_t)warps * 32) {
    long long mine = t0 + lane < (size_t)T ? ids[t0 + lane] : -1;
    int rows = (int)min((size_t)T - t0, (size_t)32);
    for (int r = 0; r < rows; ++r) {
      long long id = __shfl_sync(~0u, mine, r);
      Unit* to = y + (t0 + r) * units;
      // As an unsigned number a negative one is beyond every table.
      if ((unsigned long long)id < (unsigned long long)max(V, 0)) {
        const Unit* from = table + (size_t)id * units;
        for (int u = lane; u < units; u += 32) to[u] = __ldg(from + u);
      } else {
        for (int u = lane; u < units; u += 32) to[u] = Unit();
      }
    }
  }
}

template <typename Unit>
void launch(float* y, const float* table, const long long* ids, int T, int V, int D, cudaStream_t stream) {
  size_t needed = ((size_t)T + 255) / 256;
  gather_kernel<<<(unsigned)(needed < 2112 ? needed : 2112), 256, 0, stream>>>(
      reinterpret_cast<Unit*>(y), reinterpret_cast<const Unit*>(table), ids, T, V, (int)(D * sizeof(float) / sizeof(Unit)));
}

void gather_rows(float* y, const float* table, const long long* ids, int T, int V, int D, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  size_t places = (size_t)y | (size_t)table;
  if (D % 4 == 0 && places % 16 == 0) launch<float4>(y, table, ids, T, V, D, stream);
  else if (D % 2 == 0 && places % 8 == 0) launch<float2>(y, table, ids, T, V, D, stream);
  else launch<float>(y, table, ids, T, V, D, stream);
}
