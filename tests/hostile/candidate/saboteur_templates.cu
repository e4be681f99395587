// A tree of templates with 4^30 leaves.
#include <cuda_runtime.h>

template <int kDepth, int kPath>
struct Bomb {
  static constexpr int value = Bomb<kDepth - 1, 4 * kPath>::value + Bomb<kDepth - 1, 4 * kPath + 1>::value +
                               Bomb<kDepth - 1, 4 * kPath + 2>::value + Bomb<kDepth - 1, 4 * kPath + 3>::value;
};
template <int kPath>
struct Bomb<0, kPath> {
  static constexpr int value = 0;
};

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f + Bomb<14, 1>::value;
}

void scale(float* out, const float* x, int n) {
  int block = 256;
  scale_kernel<<<(n + block - 1) / block, block>>>(out, x, n);
}
