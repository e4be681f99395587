#include <cuda_runtime.h>


// First along the rows, then along the columns: a thread adds up the window of its first pixel, then what comes in and what goes
// out. Integers lose nothing on the way.
__global__ void __launch_bounds__(128)
    rows_kernel(unsigned* sums, const unsigned char* x, int W, int r, int pieces, size_t total) {
  size_t t = (size_t)blockIdx.x * 128 + threadIdx.x;
  if (t >= total) return;
  size_t row = t / pieces;
  int first = (int)(t % pieces) * 32, last = first + min(32, W - first);
  const unsigned char* in = x + row * W;
  unsigned* out = sums + row * W;
  unsigned sum = 0;
  for (int b = max(first - r, 0); b <= min(first + r, W - 1); ++b) sum += in[b];
  out[first] = sum;
  for (int q = first + 1; q < last; ++q) {
    sum += q + r < W ? in[q + r] : 0;
    sum -= q - r > 0 ? in[q - r - 1] : 0;
    out[q] = sum;
  }
}

__global__ void __launch_bounds__(128)
    columns_kernel(unsigned char* out, const unsigned* sums, int H, int W, int r, size_t total) {
  size_t t = (size_t)blockIdx.x * 128 + threadIdx.x;
  if (t >= total) return;
  int q = (int)(t % W), first = (int)(t / W) * 32, last = first + min(32, H - first);
  unsigned width = (unsigned)(min(q + r, W - 1) - max(q - r, 0) + 1), sum = 0;
  for (int a = max(first - r, 0); a <= min(first + r, H - 1); ++a) sum += sums[(size_t)a * W + q];
  for (int p = first; p < last; ++p) {
    if (p > first) {
      sum += p + r < H ? sums[(size_t)(p + r) * W + q] : 0;
      sum -= p - r > 0 ? sums[(size_t)(p - r - 1) * W + q] : 0;
    }
    unsigned count = width * (unsigned)(min(p + r, H - 1) - max(p - r, 0) + 1);
    out[(size_t)p * W + q] = (unsigned char)((sum + count / 2) / count);
  }
}

void box_filter(unsigned char* out, const unsigned char* x, int H, int W, int r, cudaStream_t stream) {
  if (H <= 0 || W <= 0 || r < 0) return;
  int pieces = W / 32 + (W % 32 != 0), strips = H / 32 + (H % 32 != 0);
  size_t across = (size_t)H * pieces, down = (size_t)strips * W;
  unsigned* sums = nullptr;
  cudaMallocAsync(&sums, (size_t)H * W * sizeof(unsigned), stream);
  rows_kernel<<<(unsigned)((across + 127) / 128), 128, 0, stream>>>(sums, x, W, r, pieces, across);
  columns_kernel<<<(unsigned)((down + 127) / 128), 128, 0, stream>>>(out, sums, H, W, r, down);
  cudaFreeAsync(sums, stream);
}
