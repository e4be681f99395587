#include <cuda_runtime.h>


// out[c] = the sum of column c of x[R,C]: 64 rows at a time into a workspace of the stream, then these.
__global__ void parts_kernel(float* parts, const float* x, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  int first = blockIdx.y * 64, last = min(R, first + 64);
  float s = 0.0f;
  for (int r = first; r < last; ++r) s += x[(size_t)r * C + c];
  parts[(size_t)blockIdx.y * C + c] = s;
}

__global__ void columns_kernel(float* out, const float* parts, int parts_count, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float s = 0.0f;
  for (int p = 0; p < parts_count; ++p) s += parts[(size_t)p * C + c];
  out[c] = s;
}

void column_sums(float* out, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  int parts_count = R / 64 + (R % 64 != 0);
  float* parts = nullptr;
  cudaMallocAsync(&parts, (size_t)parts_count * C * sizeof(float), stream);
  parts_kernel<<<dim3((C + 127) / 128, parts_count), 128, 0, stream>>>(parts, x, R, C);
  columns_kernel<<<(C + 127) / 128, 128, 0, stream>>>(out, parts, parts_count, C);
  cudaFreeAsync(parts, stream);
}
