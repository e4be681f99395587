#include <cuda_runtime.h>



// The fast division has an error of two units in the last place, and no branches.
__global__ void __launch_bounds__(256) ratio_kernel(float* y, const float* a, const float* b, int n, bool in_fours) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, vectors = in_fours ? (size_t)n / 4 : 0;
  if (i < vectors) {
    float4 p = reinterpret_cast<const float4*>(a)[i], q = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(y)[i] =
        make_float4(__fdividef(p.x, q.x), __fdividef(p.y, q.y), __fdividef(p.z, q.z), __fdividef(p.w, q.w));
  }
  size_t rest = vectors * 4 + i;
  if (rest < (size_t)n && (!in_fours || i < 3)) y[rest] = __fdividef(a[rest], b[rest]);
}

void ratio(float* y, const float* a, const float* b, int n, cudaStream_t stream) {
  if (n <= 0) return;
  bool in_fours = ((size_t)y | (size_t)a | (size_t)b) % 16 == 0 && n >= 4;
  size_t threads = in_fours ? (size_t)n / 4 : (size_t)n;
  if (threads < 3) threads = 3;
  ratio_kernel<<<(unsigned)((threads + 255) / 256), 256, 0, stream>>>(y, a, b, n, in_fours);
}
