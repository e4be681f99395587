// F.grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
// input half NCHW, grid float [N, Ho, Wo, 2] with (x, y) in [-1, 1]
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CUDA_1D_LOOP(i, n) \
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n); i += (long long)blockDim.x * gridDim.x)

template <typename scalar_t>
__device__ float fetch(const scalar_t* plane, int H, int W, int y, int x) {
  if (y < 0 || y >= H || x < 0 || x >= W) return 0.f;
  return static_cast<float>(plane[y * W + x]);
}

template <typename scalar_t>
__global__ void grid_sampler_2d(long long n, const scalar_t* input, const float* grid, scalar_t* output,
                                int C, int H, int W, int Ho, int Wo) {
  CUDA_1D_LOOP(index, n) {
    const int wo = index % Wo;
    const int ho = (index / Wo) % Ho;
    const int c = (index / Wo / Ho) % C;
    const int b = index / Wo / Ho / C;

    const float* g = grid + (((size_t)b * Ho + ho) * Wo + wo) * 2;
    const float ix = ((g[0] + 1.f) * W - 1.f) / 2.f;
    const float iy = ((g[1] + 1.f) * H - 1.f) / 2.f;

    scalar_t result = scalar_t(0.f);
    // everything else is outside, and would overflow an int
    if (ix > -1.f && ix < W && iy > -1.f && iy < H) {
      const int x0 = static_cast<int>(floorf(ix));
      const int y0 = static_cast<int>(floorf(iy));
      const float fx = ix - x0, fy = iy - y0;
      const scalar_t* plane = input + ((size_t)b * C + c) * H * W;
      float v = fetch(plane, H, W, y0, x0) * (1.f - fx) * (1.f - fy)
              + fetch(plane, H, W, y0, x0 + 1) * fx * (1.f - fy)
              + fetch(plane, H, W, y0 + 1, x0) * (1.f - fx) * fy
              + fetch(plane, H, W, y0 + 1, x0 + 1) * fx * fy;
      result = scalar_t(v);
    }
    output[index] = result;
  }
}

void grid_sample_half(const __half* input, const float* grid, __half* output,
                      int N, int C, int H, int W, int Ho, int Wo, cudaStream_t stream) {
  const long long n = (long long)N * C * Ho * Wo;
  const int threads = 512;
  long long blocks = (n + threads - 1) / threads;
  if (blocks > 1 << 20) blocks = 1 << 20;
  grid_sampler_2d<__half><<<(int)blocks, threads, 0, stream>>>(n, input, grid, output, C, H, W, Ho, Wo);
}
