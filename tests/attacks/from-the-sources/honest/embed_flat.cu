// One thread per four output elements over the flat output, with a scalar kernel for other widths and alignments.
#include <cuda_runtime.h>
#include <stdint.h>
__global__ void flat4(float4* out, const float4* table, const int* ids, long long n4, int d4, int V) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  int t = (int)(i / d4), d = (int)(i - (long long)t * d4), id = __ldg(ids + t);
  out[i] = id >= 0 && id < V ? __ldg(table + (size_t)id * d4 + d) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
__global__ void flat1(float* out, const float* table, const int* ids, long long n, int D, int V) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t = (int)(i / D), id = __ldg(ids + t);
  out[i] = id >= 0 && id < V ? __ldg(table + (size_t)id * D + (i - (long long)t * D)) : 0.0f;
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  long long n = (long long)T * D;
  if (D % 4 == 0 && ((uintptr_t)out | (uintptr_t)table) % 16 == 0)
    flat4<<<(unsigned)((n / 4 + 127) / 128), 128, 0, stream>>>((float4*)out, (const float4*)table, ids, n / 4, D / 4, V);
  else
    flat1<<<(unsigned)((n + 127) / 128), 128, 0, stream>>>(out, table, ids, n, D, V);
}
