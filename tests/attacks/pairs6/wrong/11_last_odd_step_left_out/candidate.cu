#include <cuda_runtime.h>


// Two steps for one trip through memory: a block loads its tile of 32 x 16 with two cells around it, makes the first step in
// shared memory for all that the second one needs, and writes the second.
__global__ void __launch_bounds__(256) two_steps_kernel(float* to, const float* from, int H, int W, float k) {
  __shared__ float a[20][36], b[18][34];
  int x0 = (int)blockIdx.x * 32 - 2, y0 = (int)blockIdx.y * 16 - 2;
  for (int e = threadIdx.x; e < 20 * 36; e += 256) {
    int y = y0 + e / 36, x = x0 + e % 36;
    a[e / 36][e % 36] = y >= 0 && y < H && x >= 0 && x < W ? from[(size_t)y * W + x] : 0.0f;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < 18 * 34; e += 256) {
    int r = e / 34 + 1, c = e % 34 + 1, y = y0 + r, x = x0 + c;
    float v = a[r][c];
    if (x > 0 && x < W - 1 && y > 0 && y < H - 1)
      v += k * (a[r][c - 1] + a[r][c + 1] + a[r - 1][c] + a[r + 1][c] - 4.0f * v);
    b[r - 1][c - 1] = v;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < 16 * 32; e += 256) {
    int r = e / 32 + 1, c = e % 32 + 1, y = y0 + r + 1, x = x0 + c + 1;
    if (y >= H || x >= W) continue;
    float v = b[r][c];
    if (x > 0 && x < W - 1 && y > 0 && y < H - 1)
      v += k * (b[r][c - 1] + b[r][c + 1] + b[r - 1][c] + b[r + 1][c] - 4.0f * v);
    to[(size_t)y * W + x] = v;
  }
}

void diffuse(float* u, float* work, int H, int W, int steps, float k, cudaStream_t stream) {
  if (H <= 0 || W <= 0) return;
  float *from = u, *to = work;
  for (int pair = 0; pair < steps / 2; ++pair) {
    two_steps_kernel<<<dim3((W + 31) / 32, (H + 15) / 16), 256, 0, stream>>>(to, from, H, W, k);
    float* swap = from;
    from = to;
    to = swap;
  }
  if (from != u) cudaMemcpyAsync(u, from, (size_t)H * W * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
