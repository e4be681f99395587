#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Grouped convolution over time: y[B,K,L] from x[B,C,L] and w[K,C/G,R]; R is odd, padding R / 2.
// A thread computes four neighbouring output channels, which share what is read of x.
__global__ void grouped_conv1d_kernel(bf16* y, const bf16* __restrict__ x, const bf16* __restrict__ w,
                                      const bf16* __restrict__ bias, int B, int C, int L, int K, int R, int G) {
  int l = blockIdx.x * blockDim.x + threadIdx.x;
  int quads = (K + 3) / 4;
  int k0 = blockIdx.y % quads * 4, b = blockIdx.y / quads;
  if (l >= L) return;
  int cg = C / G, g = k0 / (K / G);
  float acc[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) acc[j] = k0 + j < K ? __bfloat162float(bias[k0 + j]) : 0.0f;
  const bf16* xg = x + ((size_t)b * C + (size_t)g * cg) * L;
  for (int c = 0; c < cg; ++c)
    for (int r = 0; r < R; ++r) {
      int t = l + r - R / 2;
      if (t < 0 || t >= L) continue;
      float v = __bfloat162float(xg[(size_t)c * L + t]);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (k0 + j < K) acc[j] += v * __bfloat162float(w[((size_t)(k0 + j) * cg + c) * R + r]);
    }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (k0 + j < K) y[((size_t)b * K + k0 + j) * L + l] = __float2bfloat16(acc[j]);
}

void grouped_conv1d(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int L, int K, int R, int G,
                    cudaStream_t stream) {
  if (B <= 0 || K <= 0 || L <= 0) return;
  grouped_conv1d_kernel<<<dim3((L + 127) / 128, (K + 3) / 4 * B), 128, 0, stream>>>(y, x, w, bias, B, C, L, K, R, G);
}
