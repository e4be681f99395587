#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Grouped convolution over time: y[B,K,L] from x[B,C,L] and w[K,C/G,R]; R is odd, padding R / 2.
__global__ void grouped_conv1d_kernel(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int L,
                                      int K, int R, int G) {
  int l = blockIdx.x * blockDim.x + threadIdx.x;
  int k = blockIdx.y % K, b = blockIdx.y / K;
  if (l >= L) return;
  int cg = C / G, g = k / (K / G);
  float acc = __bfloat162float(bias[k]);
  for (int c = 0; c < cg; ++c)
    for (int r = 0; r < R; ++r) {
      int t = l + r - R / 2;
      if (t < 0 || t >= L) continue;
      acc +=
          __bfloat162float(x[((size_t)b * C + g * cg + c) * L + t]) * __bfloat162float(w[((size_t)k * cg + c) * R + r]);
    }
  y[((size_t)b * K + k) * L + l] = __float2bfloat16(acc);
}

void grouped_conv1d(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int L, int K, int R, int G,
                    cudaStream_t stream) {
  if (B <= 0 || K <= 0 || L <= 0) return;
  grouped_conv1d_kernel<<<dim3((L + 127) / 128, K * B), 128, 0, stream>>>(y, x, w, bias, B, C, L, K, R, G);
}
