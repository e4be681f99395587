#include <cuda_bf16.h>
#include <cuda_runtime.h>


__global__ void depthwise_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* w, int N, int C, int H, int W) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * C * H * W) return;
  int ow = i % W, oh = i / W % H, c = i / ((size_t)W * H) % C;
  const __nv_bfloat16* plane = x + i / ((size_t)W * H) * H * W;
  float acc = 0.0f;
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s) {
      int ih = oh + r - 1, iw = ow + s - 1;
      if (ih >= 0 && ih < H && iw >= 0 && iw < W) acc += __bfloat162float(plane[ih * W + iw]) * w[(c * 3 + r) * 3 + s];
    }
  y[i] = __float2bfloat16(acc);
}

// Eight pixels of a row per thread: each of three rows is one load of 16 bytes and a neighbour at either end.
__global__ void __launch_bounds__(128)
    depthwise_eights(__nv_bfloat16* y, const __nv_bfloat16* __restrict__ x, const float* __restrict__ w, int N, int C,
                     int H, int W) {
  size_t v = (size_t)blockIdx.x * 128 + threadIdx.x;
  int per_plane = H * W / 8;
  if (v >= (size_t)N * C * per_plane) return;
  int at = (int)(v % per_plane) * 8, c = (int)(v / per_plane % C);
  const __nv_bfloat16* plane = x + v / per_plane * H * W;
  float acc[8] = {};
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    int p = at + (r - 1) * W;
    if (p < 0 || p >= H * W) continue;
    float in[10];
    uint4 loaded = *(const uint4*)(plane + p);
    const __nv_bfloat16* values = (const __nv_bfloat16*)&loaded;
    in[0] = p > 0 ? __bfloat162float(plane[p - 1]) : 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) in[j + 1] = __bfloat162float(values[j]);
    in[9] = p + 8 < H * W ? __bfloat162float(plane[p + 8]) : 0.0f;
#pragma unroll
    for (int s = 0; s < 3; ++s) {
      float f = w[(c * 3 + r) * 3 + s];
#pragma unroll
      for (int j = 0; j < 8; ++j) acc[j] += in[j + s] * f;
    }
  }
  uint4 stored;
  __nv_bfloat16* results = (__nv_bfloat16*)&stored;
#pragma unroll
  for (int j = 0; j < 8; ++j) results[j] = __float2bfloat16(acc[j]);
  *(uint4*)(y + v * 8) = stored;
}

void depthwise3x3(__nv_bfloat16* y, const __nv_bfloat16* x, const float* w, int N, int C, int H, int W,
                  cudaStream_t stream) {
  size_t total = (size_t)N * C * H * W;
  if (N <= 0 || C <= 0 || H <= 0 || W <= 0) return;
  if (W % 8 == 0 && ((size_t)x | (size_t)y) % 16 == 0)
    depthwise_eights<<<(unsigned)((total / 8 + 127) / 128), 128, 0, stream>>>(y, x, w, N, C, H, W);
  else
    depthwise_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, w, N, C, H, W);
}
