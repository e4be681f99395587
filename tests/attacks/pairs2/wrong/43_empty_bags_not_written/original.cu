#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out[b] = mean of the rows table[idx[first[b]]] ... table[idx[first[b + 1] - 1]]; an empty bag gives zeros. Offsets are clamped to 0 ... L.
__global__ void bag_kernel(__half* out, const __half* table, const int* idx, const int* first, int L, int C) {
  int b = blockIdx.x;
  int from = min(max(first[b], 0), L), to = min(max(first[b + 1], 0), L);
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    float s = 0.0f;
    for (int i = from; i < to; ++i) s += __half2float(table[(size_t)idx[i] * C + c]);
    out[(size_t)b * C + c] = __float2half(to > from ? s / (to - from) : 0.0f);
  }
}

void embedding_bag_f16(__half* out, const __half* table, const int* idx, const int* first, int B, int L, int V, int C,
                       cudaStream_t stream) {
  bag_kernel<<<B, 64, 0, stream>>>(out, table, idx, first, L, C);
}
