#include <cuda_runtime.h>


// All rows have the same angles: a thread keeps one pair of columns, makes its angle once, and walks down the rows. Sine and
// cosine come from the special function unit, since the slow path of sincosf for large arguments needs local memory.
__global__ void __launch_bounds__(64) rope_kernel(float* y, const float* x, int rows, int D, int pos, float base) {
  int half = D / 2, i = blockIdx.x * 64 + threadIdx.x;
  if (i >= half + D % 2) return;
  if (i == half) {
    for (size_t row = blockIdx.y; row < (size_t)rows; row += gridDim.y) y[row * D + D - 1] = x[row * D + D - 1];
    return;
  }
  float angle = pos * powf(base, -2.0f * i / D), s, c;
  __sincosf(angle, &s, &c);
  for (size_t row = blockIdx.y; row < (size_t)rows; row += gridDim.y) {
    const float* in = x + row * D;
    float* out = y + row * D;
    float a = in[i], b = in[i + half];
    out[i] = a * c - b * s;
    out[i + half] = b * c + a * s;
  }
}

void rope_at(float* y, const float* x, int rows, int D, int pos, float base, cudaStream_t stream) {
  if (rows <= 0 || D <= 0) return;
  int pairs = D / 2 + D % 2;
  unsigned parts = (unsigned)(rows < 1024 ? (rows + 3) / 4 : 256);
  rope_kernel<<<dim3((pairs + 63) / 64, parts), 64, 0, stream>>>(y, x, rows, D, pos, base);
}
