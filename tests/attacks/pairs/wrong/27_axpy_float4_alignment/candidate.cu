#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = a + alpha * b for n floats, four per thread where the arrays allow; the remainder is left to the first threads.
__global__ void scaled_add_kernel(float* out, const float* a, const float* b, float alpha, int n, int quads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = gridDim.x * blockDim.x;
  for (int q = i; q < quads; q += stride) {
    float4 x = reinterpret_cast<const float4*>(a)[q];
    float4 y = reinterpret_cast<const float4*>(b)[q];
    reinterpret_cast<float4*>(out)[q] = make_float4(fmaf(alpha, y.x, x.x), fmaf(alpha, y.y, x.y), fmaf(alpha, y.z, x.z),
                                                    fmaf(alpha, y.w, x.w));
  }
  for (long long t = 4LL * quads + i; t < n; t += stride) out[t] = fmaf(alpha, b[t], a[t]);
}

void scaled_add(float* out, const float* a, const float* b, float alpha, int n) {
  if (n <= 0) return;
  int quads = ((size_t)out | (size_t)a) % 16 == 0 ? n / 4 : 0;
  int blocks = n / 1024 + 1;
  scaled_add_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, a, b, alpha, n, quads);
}
