#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Causal depthwise convolution: y[t,c] = sum over j of w[c,j] * x[t - K + 1 + j, c], x [T, C], w [C, K].
__global__ void depthwise_kernel(bf16* y, const bf16* x, const bf16* w, int T, int C, int K) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int t = blockIdx.y;
  if (c >= C) return;
  float acc = 0.0f;
  for (int j = 0; j < K; ++j) {
    int s = t - K + 1 + j;
    if (s >= 0) acc += __bfloat162float(w[c * K + j]) * __bfloat162float(x[(size_t)s * C + c]);
  }
  y[(size_t)t * C + c] = __float2bfloat16(acc);
}

// K known: taps and a window of inputs in registers, eight steps of time for each thread.
template <int K>
__global__ void depthwise_window(bf16* y, const bf16* x, const bf16* w, int T, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int t0 = blockIdx.y * 8;
  if (c >= C) return;
  float taps[K], window[K];
#pragma unroll
  for (int j = 0; j < K; ++j) taps[j] = __bfloat162float(w[c * K + j]);
#pragma unroll
  for (int j = 1; j < K; ++j) {
    int s = t0 - K + j;
    window[j] = s >= 0 ? __bfloat162float(x[(size_t)s * C + c]) : 0.0f;
  }
  int end = min(t0 + 8, T);
  for (int t = t0; t < end; ++t) {
#pragma unroll
    for (int j = 0; j + 1 < K; ++j) window[j] = window[j + 1];
    window[K - 1] = __bfloat162float(x[(size_t)t * C + c]);
    float acc = 0.0f;
#pragma unroll
    for (int j = 0; j < K; ++j)
      if (t - K + 1 + j >= 0) acc += taps[j] * window[j];
    y[(size_t)t * C + c] = __float2bfloat16(acc);
  }
}

void depthwise_bf16(bf16* y, const bf16* x, const bf16* w, int T, int C, int K, cudaStream_t stream) {
  dim3 grid((C + 127) / 128, (T + 7) / 8);
  switch (K) {
    case 2: depthwise_window<2><<<grid, 128, 0, stream>>>(y, x, w, T, C); break;
    case 3: depthwise_window<3><<<grid, 128, 0, stream>>>(y, x, w, T, C); break;
    case 4: depthwise_window<4><<<grid, 128, 0, stream>>>(y, x, w, T, C); break;
    default: depthwise_kernel<<<dim3((C + 127) / 128, T), 128, 0, stream>>>(y, x, w, T, C, K);
  }
}
