#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// 2x2 windows, stride 2, of [P, H, W] into [P, H / 2, W / 2].
__global__ void avgpool_kernel(bf16* y, const bf16* x, int P, int H, int W) {
  int OH = H / 2, OW = W / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= P * OH * OW) return;
  int ox = i % OW, oy = i / OW % OH, p = i / OW / OH;
  float s = 0.0f;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) s += __bfloat162float(x[((size_t)p * H + oy * 2 + dy) * W + ox * 2 + dx]);
  y[i] = __float2bfloat16(s / 4.0f);
}

void avgpool_bf16(bf16* y, const bf16* x, int P, int H, int W, cudaStream_t stream) {
  int n = P * (H / 2) * (W / 2);
  avgpool_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, x, P, H, W);
}
