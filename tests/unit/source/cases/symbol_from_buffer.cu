// entry: filter
// buffer: out f32 256
// buffer: in f32 256
// buffer: w f32 8
// expect: copy to symbol conv::weights+0 w 20 stream 2
// expect: copy to symbol conv::weights+20 w+12 12
// expect: copy to symbol scale+0 w+16 4 stream 2
// expect: copy to symbol conv::weights+4 workspace 0+8 8
// expect: launch conv::k(out, in) 1x1x1 256x1x1
// expect: copy from symbol scale+0 out+12 4
// expect: copy from symbol scale+0 out+16 4 stream 2
#include <cuda_runtime.h>
namespace conv {
__constant__ float weights[8];
}
__device__ float scale;
namespace conv {
__global__ void k(float* out, const float* in) {
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += weights[i] * in[(threadIdx.x + i) & 255];
  out[threadIdx.x] = sum * scale;
}
}
void filter(float* out, const float* in, const float* w, cudaStream_t stream) {
  static float* half = nullptr;
  if (half == nullptr) cudaMalloc(&half, 64);
  cudaMemcpyToSymbol(conv::weights, w, 5 * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbolAsync(conv::weights, w + 3, 3 * sizeof(float), 5 * sizeof(float), cudaMemcpyDefault, stream);
  float* address = nullptr;
  cudaGetSymbolAddress((void**)&address, scale);
  cudaMemcpy(address, w + 4, sizeof(float), cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbolAsync(conv::weights, half + 2, 2 * sizeof(float), sizeof(float), cudaMemcpyDeviceToDevice, stream);
  conv::k<<<1, 256, 0, stream>>>(out, in);
  cudaMemcpyFromSymbolAsync(out + 3, scale, sizeof(float), 0, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpy(out + 4, address, sizeof(float), cudaMemcpyDefault);
}
