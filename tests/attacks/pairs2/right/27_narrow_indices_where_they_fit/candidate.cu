#include <cuda_runtime.h>


// y[B,H,T,D] = x[B,T,H,D]; any sizes, also of more than 2^31 elements.
template <typename Index>
__global__ void swap_kernel(float* y, const float* x, Index B, Index T, Index H, Index D) {
  Index n = B * T * H * D;
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (Index)gridDim.x * blockDim.x) {
    Index q = i / D, d = i - q * D;
    Index r = q / T, t = q - r * T;
    Index b = r / H, h = r - b * H;
    y[i] = x[((b * T + t) * H + h) * D + d];
  }
}

void swap_heads(float* y, const float* x, int B, int T, int H, int D, cudaStream_t stream) {
  long long n = (long long)B * T * H * D;
  if (n < (1ll << 31))  // an index plus a stride stays below 2^32
    swap_kernel<unsigned><<<512, 256, 0, stream>>>(y, x, B, T, H, D);
  else
    swap_kernel<long long><<<512, 256, 0, stream>>>(y, x, B, T, H, D);
}
