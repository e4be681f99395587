#include <cuda_runtime.h>


// Rotary embedding of one position while decoding: in each of the rows of x[rows,D], element i and element i + D / 2 are turned by the
// angle pos * base^(-2i/D); an odd last one stays. Positions go up to a million. y may be x.
__global__ void rope_kernel(float* y, const float* x, int rows, int D, int pos, float base) {
  int half = D / 2, each = half + D % 2;
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= (size_t)rows * each) return;
  size_t row = t / each;
  int i = t % each;
  const float* in = x + row * D;
  float* out = y + row * D;
  if (i == half) {
    out[D - 1] = in[D - 1];
    return;
  }
  float angle = pos * powf(base, -2.0f * i / D), s, c;
  sincosf(angle, &s, &c);
  float a = in[i], b = in[i + half];
  out[i] = a * c - b * s;
  out[i + half] = b * c + a * s;
}

void rope_at(float* y, const float* x, int rows, int D, int pos, float base, cudaStream_t stream) {
  if (rows <= 0 || D <= 0) return;
  size_t total = (size_t)rows * (D / 2 + D % 2);
  rope_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, rows, D, pos, base);
}
