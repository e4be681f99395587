// RMS normalization of (N, C), for float and bfloat16 storage. Sums are kept in float.
#include "../include/common.cuh"

namespace rms {

template <typename T>
__global__ void rmsnorm_kernel(T* __restrict__ out, const T* __restrict__ inp, const T* __restrict__ weight, int rows,
                               int cols, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  float sum_sq = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float v = to_float(inp[row * cols + c]);
    sum_sq += v * v;
  }
  const float scale = rsqrtf(sum_sq / cols + eps);
  for (int c = 0; c < cols; ++c) {
    const float v = to_float(inp[row * cols + c]);
    out[row * cols + c] = from_float<T>(v * scale * to_float(weight[c]));
  }
}

template <typename T>
void launch(T* out, const T* inp, const T* weight, int rows, int cols, float eps, cudaStream_t stream) {
  const dim3 block(128);
  const dim3 grid(ceil_div(rows, block.x));
  rmsnorm_kernel<T><<<grid, block, 0, stream>>>(out, inp, weight, rows, cols, eps);
  LAUNCH_CHECK();
}

}  // namespace rms

void rmsnorm_f32(float* out, const float* inp, const float* weight, int rows, int cols, float eps, cudaStream_t stream) {
  rms::launch<float>(out, inp, weight, rows, cols, eps, stream);
}

void rmsnorm_bf16(__nv_bfloat16* out, const __nv_bfloat16* inp, const __nv_bfloat16* weight, int rows, int cols, float eps,
                  cudaStream_t stream) {
  rms::launch<__nv_bfloat16>(out, inp, weight, rows, cols, eps, stream);
}
