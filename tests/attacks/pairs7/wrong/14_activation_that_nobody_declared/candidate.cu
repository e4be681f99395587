#include <cuda_runtime.h>



// A kernel for each function, so that no thread asks which; a block has a part of 1024 columns of a row.
template <int kActivation>
__device__ __forceinline__ float activate(float v) {
  return kActivation == 0   ? v
         : kActivation == 1 ? (v > 0.0f ? v : 0.0f)
         : kActivation == 2 ? v / (1.0f + expf(-v))
                            : 1.0f / (1.0f + expf(-v));
}

template <int kActivation>
__global__ void __launch_bounds__(256) activation_kernel(float* y, const float* x, const float* bias, int C, unsigned parts) {
  size_t row = (size_t)(blockIdx.x / parts) * C;
  int first = (int)(blockIdx.x % parts) * 1024 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int c = first + k * 256;
    if (c < C) y[row + c] = activate<kActivation>(x[row + c] + bias[c]);
  }
}

void bias_activation(float* y, const float* x, const float* bias, int R, int C, int activation, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned parts = ((unsigned)C + 1023) / 1024, blocks = (unsigned)R * parts;
  switch (activation) {
    case 0: activation_kernel<0><<<blocks, 256, 0, stream>>>(y, x, bias, C, parts); break;
    case 1: activation_kernel<1><<<blocks, 256, 0, stream>>>(y, x, bias, C, parts); break;
    case 2: activation_kernel<2><<<blocks, 256, 0, stream>>>(y, x, bias, C, parts); break;
    default: activation_kernel<3><<<blocks, 256, 0, stream>>>(y, x, bias, C, parts); break;
  }
}
