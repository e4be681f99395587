// ConvNeXt block, NHWC, bf16:
//   x + ls * (W2 gelu(W1 layernorm(dwconv7x7(x) + bd) + b1) + b2)
// (layernorm's affine part is kept separate from W1, the checkpoint wants it like that)

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>

using bf16 = __nv_bfloat16;

// ---------------------------------------------------------------- depthwise 7x7, padding 3, weights [7][7][C]

__global__ void dwconv7_nhwc(const bf16* __restrict__ x, const bf16* __restrict__ w, const bf16* __restrict__ bias,
                             float* __restrict__ t, int N, int H, int W, int C) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= C) return;
  const int pixel = blockIdx.x;
  const int px = pixel % W;
  const int py = pixel / W % H;
  const int n = pixel / W / H;

  float acc = __bfloat162float(bias[c]);
  for (int ky = 0; ky < 7; ++ky) {
    const int yy = py + ky - 3;
    if (yy < 0 || yy >= H) continue;
    for (int kx = 0; kx < 7; ++kx) {
      const int xx = px + kx - 3;
      if (xx < 0 || xx >= W) continue;
      acc += __bfloat162float(x[(((size_t)n * H + yy) * W + xx) * C + c]) * __bfloat162float(w[(ky * 7 + kx) * C + c]);
    }
  }
  t[(size_t)pixel * C + c] = acc;
}

// ---------------------------------------------------------------- layernorm over C, one warp per pixel

__global__ void layernorm_warp(const float* __restrict__ t, const bf16* __restrict__ g, const bf16* __restrict__ b,
                               bf16* __restrict__ a, int pixels, int C, float eps) {
  const int pixel = blockIdx.x * blockDim.y + threadIdx.y;
  if (pixel >= pixels) return;
  const float* row = t + (size_t)pixel * C;

  float sum = 0.f;
  for (int c = threadIdx.x; c < C; c += 32) sum += row[c];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
  const float mean = sum / C;

  float sq = 0.f;
  for (int c = threadIdx.x; c < C; c += 32) sq += (row[c] - mean) * (row[c] - mean);
  for (int o = 16; o > 0; o /= 2) sq += __shfl_xor_sync(0xffffffff, sq, o);
  const float rstd = rsqrtf(sq / C + eps);

  for (int c = threadIdx.x; c < C; c += 32)
    a[(size_t)pixel * C + c] = __float2bfloat16((row[c] - mean) * rstd * __bfloat162float(g[c]) + __bfloat162float(b[c]));
}

// ---------------------------------------------------------------- C = epilogue(A [M, K] * B [N, K]^T)

struct BiasGelu {
  const bf16* bias;
  __device__ float operator()(float v, int, int n, int) const {
    v += __bfloat162float(bias[n]);
    return 0.5f * v * (1.f + erff(v * 0.70710678f));
  }
};

struct BiasScaleResidual {
  const bf16* bias;
  const bf16* scale;
  const bf16* skip;
  __device__ float operator()(float v, int m, int n, int N) const {
    v = (v + __bfloat162float(bias[n])) * __bfloat162float(scale[n]);
    return v + __bfloat162float(skip[(size_t)m * N + n]);
  }
};

template <class Epilogue>
__global__ void gemm_nt(const bf16* __restrict__ A, const bf16* __restrict__ B, bf16* __restrict__ D, int M, int N,
                        int K, Epilogue epilogue) {
  constexpr int T = 32;
  __shared__ float As[T][T + 1];
  __shared__ float Bs[T][T + 1];
  const int tx = threadIdx.x;  // 16
  const int ty = threadIdx.y;  // 16
  const int m0 = blockIdx.y * T;
  const int n0 = blockIdx.x * T;

  float acc[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
  for (int k0 = 0; k0 < K; k0 += T) {
    for (int r = ty; r < T; r += 16) {
      for (int c = tx; c < T; c += 16) {
        As[r][c] = (m0 + r < M && k0 + c < K) ? __bfloat162float(A[(size_t)(m0 + r) * K + k0 + c]) : 0.f;
        Bs[r][c] = (n0 + r < N && k0 + c < K) ? __bfloat162float(B[(size_t)(n0 + r) * K + k0 + c]) : 0.f;
      }
    }
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      const float a0 = As[ty][k], a1 = As[ty + 16][k];
      const float b0 = Bs[tx][k], b1 = Bs[tx + 16][k];
      acc[0][0] += a0 * b0;
      acc[0][1] += a0 * b1;
      acc[1][0] += a1 * b0;
      acc[1][1] += a1 * b1;
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int m = m0 + ty + 16 * i;
      const int n = n0 + tx + 16 * j;
      if (m < M && n < N) D[(size_t)m * N + n] = __float2bfloat16(epilogue(acc[i][j], m, n, N));
    }
  }
}

extern "C" void convnext_block(const bf16* x, const bf16* wd, const bf16* bd, const bf16* ln_g, const bf16* ln_b,
                               const bf16* w1, const bf16* b1, const bf16* w2, const bf16* b2, const bf16* ls, float* t,
                               bf16* a, bf16* hidden, bf16* out, int N, int H, int W, int C, float eps,
                               cudaStream_t stream) {
  const int pixels = N * H * W;
  const int F = 4 * C;
  const dim3 tile(16, 16);

  dwconv7_nhwc<<<dim3(pixels, (C + 63) / 64), 64, 0, stream>>>(x, wd, bd, t, N, H, W, C);
  layernorm_warp<<<(pixels + 7) / 8, dim3(32, 8), 0, stream>>>(t, ln_g, ln_b, a, pixels, C, eps);
  gemm_nt<BiasGelu><<<dim3((F + 31) / 32, (pixels + 31) / 32), tile, 0, stream>>>(a, w1, hidden, pixels, F, C,
                                                                                 BiasGelu{b1});
  gemm_nt<BiasScaleResidual><<<dim3((C + 31) / 32, (pixels + 31) / 32), tile, 0, stream>>>(
      hidden, w2, out, pixels, C, F, BiasScaleResidual{b2, ls, x});
}
