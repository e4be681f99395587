#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[b,:] is the mean of the rows index[offsets[b]] ... index[offsets[b + 1] - 1] of table[V,D]; zeros for an empty bag.
__global__ void embedding_bag_kernel(__half* y, const __half* table, const int* index, const int* offsets, int B,
                                     int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)B * D) return;
  int b = i / D, d = i % D;
  int begin = offsets[b], end = offsets[b + 1];
  float sum = 0.0f;
  for (int e = begin; e < end; ++e) sum += __half2float(table[(size_t)index[e] * D + d]);
  y[i] = __float2half(end > begin ? sum / (end - begin) : 0.0f);
}

void embedding_bag(__half* y, const __half* table, const int* index, const int* offsets, int B, int V, int D, int E,
                   cudaStream_t stream) {
  if (B <= 0 || D <= 0) return;
  size_t total = (size_t)B * D;
  embedding_bag_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, table, index, offsets, B, D);
}
