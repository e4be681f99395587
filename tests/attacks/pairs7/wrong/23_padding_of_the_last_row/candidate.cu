#include <cuda_runtime.h>



// A warp for each row; four at a time where the pitch allows it, the last ones masked.
__global__ void __launch_bounds__(256) norms_kernel(float* norms, const float* x, int R, int C, int pitch, bool in_fours) {
  int lane = threadIdx.x % 32;
  size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= (size_t)R) return;
  const float* row = x + r * pitch;
  float sum = 0.0f;
  if (in_fours) {
    for (int c = lane * 4; c < C; c += 128) {
      float4 v = *reinterpret_cast<const float4*>(row + c);
      sum += v.x * v.x;
      sum += c + 1 < C ? v.y * v.y : 0.0f;
      sum += c + 2 < C ? v.z * v.z : 0.0f;
      sum += c + 3 < C ? v.w * v.w : 0.0f;
    }
  } else {
    for (int c = lane; c < C; c += 32) sum += row[c] * row[c];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) norms[r] = sqrtf(sum);
}

void row_norms(float* norms, const float* x, int R, int C, int pitch, cudaStream_t stream) {
  if (R <= 0) return;
  bool in_fours = pitch % 4 == 0 && (size_t)x % 16 == 0 && C <= pitch;
  norms_kernel<<<(unsigned)(((size_t)R + 7) / 8), 256, 0, stream>>>(norms, x, R, C, pitch, in_fours);
}
