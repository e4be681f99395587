#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__global__ void causal_conv1d_any(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int T, int R) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)B * C * T) return;
  int t = i % T, c = i / T % C;
  const bf16* row = x + i / T * T;
  float acc = __bfloat162float(bias[c]);
  for (int r = 0; r < R; ++r) {
    int at = t - R + 1 + r;
    float v = at >= 0 ? __bfloat162float(row[at]) : 0.0f;
    acc += __bfloat162float(w[(size_t)c * R + r]) * v;
  }
  y[i] = __float2bfloat16(acc / (1.0f + expf(-acc)));
}

struct __align__(16) Eight {
  bf16 e[8];
};

// A thread computes eight steps of a row; what they need of x is in registers, and so are the taps.
template <int R, bool kVector>
__global__ void __launch_bounds__(128)
    causal_conv1d_taps(bf16* y, const bf16* __restrict__ x, const bf16* __restrict__ w, const bf16* __restrict__ bias,
                       size_t items, int C, int T, int per_row) {
  size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
  if (i >= items) return;
  size_t row = i / per_row;
  int t0 = i % per_row * 8, c = row % C;
  const bf16* from = x + row * T;
  float taps[R], window[R - 1 + 8];
#pragma unroll
  for (int r = 0; r < R; ++r) taps[r] = __bfloat162float(w[(size_t)c * R + r]);
#pragma unroll
  for (int j = 0; j < R - 1; ++j) {
    int at = t0 - R + 1 + j;
    window[j] = at >= 0 ? __bfloat162float(from[at]) : 0.0f;
  }
  if (kVector) {
    Eight v = *(const Eight*)(from + t0);
#pragma unroll
    for (int j = 0; j < 8; ++j) window[R - 1 + j] = __bfloat162float(v.e[j]);
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j) window[R - 1 + j] = t0 + j < T ? __bfloat162float(from[t0 + j]) : 0.0f;
  }
  float b = __bfloat162float(bias[c]);
  Eight out;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    float acc = b;
#pragma unroll
    for (int r = 0; r < R; ++r) acc += taps[r] * window[j + r];
    out.e[j] = __float2bfloat16(acc / (1.0f + expf(-acc)));
  }
  if (kVector) {
    *(Eight*)(y + row * T + t0) = out;
  } else {
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (t0 + j < T) y[row * T + t0 + j] = out.e[j];
  }
}

template <int R>
void launch(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int T, cudaStream_t stream) {
  int per_row = (T + 7) / 8;
  size_t items = (size_t)B * C * per_row;
  unsigned blocks = (unsigned)((items + 127) / 128);
  if (T % 8 == 0 && ((size_t)y | (size_t)x) % 16 == 0)
    causal_conv1d_taps<R, true><<<blocks, 128, 0, stream>>>(y, x, w, bias, items, C, T, per_row);
  else
    causal_conv1d_taps<R, false><<<blocks, 128, 0, stream>>>(y, x, w, bias, items, C, T, per_row);
}

void causal_conv1d(bf16* y, const bf16* x, const bf16* w, const bf16* bias, int B, int C, int T, int R,
                   cudaStream_t stream) {
  size_t total = (size_t)B * C * T;
  if (total == 0) return;
  switch (R) {
    case 2:
      launch<2>(y, x, w, bias, B, C, T, stream);
      break;
    case 3:
      launch<3>(y, x, w, bias, B, C, T, stream);
      break;
    case 4:
      launch<4>(y, x, w, bias, B, C, T, stream);
      break;
    default:
      causal_conv1d_any<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, w, bias, B, C, T, R);
  }
}
