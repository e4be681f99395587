#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

// A warp has a unit of an example: its four products together, which share h, then the cell. The gates never reach
// memory.
template <bool kPairs>
__global__ void __launch_bounds__(128)
    lstm_kernel(__half* h_new, float* c_new, const float* __restrict__ gx, const __half* __restrict__ w,
                const __half* __restrict__ h, const float* c, int B, int H) {
  int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= B * H) return;
  int b = i / H, j = i % H;
  const __half* state = h + (size_t)b * H;
  float s[4] = {};
  if (kPairs) {
    for (int k = lane; k < H / 2; k += 32) {
      float2 v = __half22float2(((const __half2*)state)[k]);
#pragma unroll
      for (int g = 0; g < 4; ++g) {
        float2 u = __half22float2(((const __half2*)(w + ((size_t)g * H + j) * H))[k]);
        s[g] += u.x * v.x + u.y * v.y;
      }
    }
  } else {
    for (int k = lane; k < H; k += 32) {
      float v = __half2float(state[k]);
#pragma unroll
      for (int g = 0; g < 4; ++g) s[g] += __half2float(w[((size_t)g * H + j) * H + k]) * v;
    }
  }
#pragma unroll
  for (int g = 0; g < 4; ++g)
#pragma unroll
    for (int o = 16; o > 0; o /= 2) s[g] += __shfl_xor_sync(0xffffffffu, s[g], o);
  if (lane != 0) return;
#pragma unroll
  for (int g = 0; g < 4; ++g) s[g] += gx[((size_t)b * 4 + g) * H + j];
  float next = sigmoid(s[1]) * c[i] + sigmoid(s[0]) * tanhf(s[2]);
  c_new[i] = next;
  h_new[i] = __float2half(sigmoid(s[3]) * tanhf(next));
}

void lstm_step(__half* h_new, float* c_new, float* gates, const float* gx, const __half* w, const __half* h,
               const float* c, int B, int H, cudaStream_t stream) {
  if (B <= 0 || H <= 0) return;
  if (H % 2 == 0 && ((size_t)w | (size_t)h) % 4 == 0)
    lstm_kernel<true><<<(B * H + 3) / 4, 128, 0, stream>>>(h_new, c_new, gx, w, h, c, B, H);
  else
    lstm_kernel<false><<<(B * H + 3) / 4, 128, 0, stream>>>(h_new, c_new, gx, w, h, c, B, H);
}
