// The SPPF block of a detector, batch norms already folded into scale and bias:
//   a = silu(conv1x1(x)), then three max pools of 5 x 5 one after the other; y = silu(conv1x1([a, p1, p2, p3]))
// cat: [N][4][Ch][H*W] bf16 holds the four parts.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>

#define SILU(v) ((v) / (1.0f + expf(-(v))))

__global__ void pointwise_silu(const __nv_bfloat16* in, const __nv_bfloat16* w, const float* scale, const float* bias,
                               __nv_bfloat16* out, int Ci, int Co, int P, long long out_stride) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int o = blockIdx.y;
  int n = blockIdx.z;
  if (p >= P) return;
  float acc = 0.0f;
  for (int c = 0; c < Ci; c++)
    acc += __bfloat162float(in[((size_t)n * Ci + c) * P + p]) * __bfloat162float(w[(size_t)o * Ci + c]);
  acc = acc * scale[o] + bias[o];
  out[n * out_stride + (size_t)o * P + p] = __float2bfloat16(SILU(acc));
}

// part `from` of every image to part `from + 1`
__global__ void maxpool5(__nv_bfloat16* cat, int from, int Ch, int H, int W) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y;
  int n = blockIdx.z;
  if (p >= H * W) return;
  int h = p / W, v = p % W;
  __nv_bfloat16* src = cat + (((size_t)n * 4 + from) * Ch + c) * H * W;
  float best = -INFINITY;
  for (int i = h - 2; i <= h + 2; i++)
    for (int j = v - 2; j <= v + 2; j++)
      if (i >= 0 && i < H && j >= 0 && j < W)
        best = fmaxf(best, __bfloat162float(src[i * W + j]));
  src[(size_t)Ch * H * W + p] = __float2bfloat16(best);
}

extern "C" void sppf(const __nv_bfloat16* x, const __nv_bfloat16* w1, const float* s1, const float* b1, const __nv_bfloat16* w2,
                     const float* s2, const float* b2, __nv_bfloat16* cat, __nv_bfloat16* y, int N, int C, int Ch, int Co, int H,
                     int W) {
  int P = H * W;
  int tiles = (P + 255) / 256;
  pointwise_silu<<<dim3(tiles, Ch, N), 256>>>(x, w1, s1, b1, cat, C, Ch, P, (long long)4 * Ch * P);
  for (int from = 0; from < 3; from++)
    maxpool5<<<dim3(tiles, Ch, N), 256>>>(cat, from, Ch, H, W);
  pointwise_silu<<<dim3(tiles, Co, N), 256>>>(cat, w2, s2, b2, y, 4 * Ch, Co, P, (long long)Co * P);
}
