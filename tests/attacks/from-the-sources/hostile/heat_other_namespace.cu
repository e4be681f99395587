// The entry moved into an inline namespace: its symbol has another name and callers do not link.
#include <cuda_runtime.h>
__global__ void heat2d_kernel(float* out, const float* inp, int H, int W, float alpha) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  size_t i = (size_t)y * W + x;
  float c = inp[i];
  if (x > 0 && y > 0 && x < W - 1 && y < H - 1)
    c += alpha * (inp[i - 1] + inp[i + 1] + inp[i - W] + inp[i + W] - 4.0f * c);
  out[i] = c;
}
inline namespace v2 {
void heat2d(float* out, const float* inp, int H, int W, float alpha) {
  if (H <= 0 || W <= 0) return;
  heat2d_kernel<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(out, inp, H, W, alpha);
}
}  // namespace v2
