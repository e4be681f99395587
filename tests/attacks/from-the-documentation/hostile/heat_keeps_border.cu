// Does not write the border (assumes that out already holds it from the step before).
#include <cuda_runtime.h>
__global__ void heat2d_kernel(float* out, const float* inp, int H, int W, float alpha) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= W - 1 || y >= H - 1) return;
  size_t i = (size_t)y * W + x;
  float c = inp[i];
  out[i] = c + alpha * (inp[i - 1] + inp[i + 1] + inp[i - W] + inp[i + W] - 4.0f * c);
}
void heat2d(float* out, const float* inp, int H, int W, float alpha) {
  if (H <= 2 || W <= 2) { if (H > 0 && W > 0) cudaMemcpyAsync(out, inp, (size_t)H * W * 4, cudaMemcpyDeviceToDevice, 0); return; }
  heat2d_kernel<<<dim3((W + 29) / 32, (H + 5) / 8), dim3(32, 8)>>>(out, inp, H, W, alpha);
}
