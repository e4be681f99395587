// entry: filter
// buffer: out f32 256
// buffer: in f32 256
// expect: symbol conv::weights+0 20
// expect: symbol conv::counter+0 4
// expect: launch conv::k(out, in) 1x1x1 256x1x1
#include <cuda_runtime.h>
namespace conv {
static __constant__ float weights[5];
__device__ int counter;
__global__ void k(float* out, const float* in) {
  float sum = 0;
  for (int i = 0; i < 5; ++i) sum += weights[i] * in[(threadIdx.x + i) & 255];
  out[threadIdx.x] = sum + counter;
}
}
void filter(float* out, const float* in) {
  const float w[5] = {1, 2, 3, 2, 1};
  cudaMemcpyToSymbol(conv::weights, w, sizeof(w));
  int zero = 0;
  cudaMemcpyToSymbolAsync(conv::counter, &zero, sizeof(int), 0, cudaMemcpyHostToDevice, 0);
  conv::k<<<1, 256>>>(out, in);
}
