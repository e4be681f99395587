// One step of heat diffusion on a grid: 5-point stencil inside, border copied.
#include <cuda_runtime.h>

__global__ void heat2d_kernel(float* out, const float* inp, int H, int W, float alpha) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  size_t i = (size_t)y * W + x;
  float c = inp[i];
  if (x == 0 || y == 0 || x == W - 1 || y == H - 1) {
    out[i] = c;
  } else {
    out[i] = c + alpha * (inp[i - 1] + inp[i + 1] + inp[i - W] + inp[i + W] - 4.0f * c);
  }
}

void heat2d(float* out, const float* inp, int H, int W, float alpha) {
  if (H <= 0 || W <= 0) return;
  dim3 block(16, 16);
  dim3 grid((W + 15) / 16, (H + 15) / 16);
  heat2d_kernel<<<grid, block>>>(out, inp, H, W, alpha);
}
