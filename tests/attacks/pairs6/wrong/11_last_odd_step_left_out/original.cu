#include <cuda_runtime.h>


// One explicit step of diffusion; the border keeps its values.
__global__ void step_kernel(float* to, const float* from, int H, int W, float k) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= W || y >= H) return;
  size_t i = (size_t)y * W + x;
  float c = from[i];
  if (x > 0 && x < W - 1 && y > 0 && y < H - 1)
    c += k * (from[i - 1] + from[i + 1] + from[i - W] + from[i + W] - 4.0f * c);
  to[i] = c;
}

// u after that many steps; work is workspace of the same size.
void diffuse(float* u, float* work, int H, int W, int steps, float k, cudaStream_t stream) {
  if (H <= 0 || W <= 0) return;
  float *from = u, *to = work;
  for (int s = 0; s < steps; ++s) {
    step_kernel<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8), 0, stream>>>(to, from, H, W, k);
    float* swap = from;
    from = to;
    to = swap;
  }
  if (from != u) cudaMemcpyAsync(u, from, (size_t)H * W * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
