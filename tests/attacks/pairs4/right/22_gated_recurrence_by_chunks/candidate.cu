#include <cuda_runtime.h>


// A block has 32 channels of a sequence, each of its 16 warps a part of the steps: first what the part does to a state
// (a factor and an addend), then, once all parts before it are known, the steps themselves from the state that they
// leave. The inputs of all parts have been read by the time anything is written over those of another one.
__global__ void __launch_bounds__(512)
    recurrence_kernel(float* y, const float* x, const float* g, int T, int C, int tiles) {
  __shared__ float factors[16][32], addends[16][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int c = blockIdx.x % tiles * 32 + lane;
  int steps = (T + 15) / 16, begin = warp * steps, end = begin + steps < T ? begin + steps : T;
  size_t first = ((size_t)(blockIdx.x / tiles) * T + begin) * C + c;
  float factor = 1.0f, h = 0.0f;
  if (c < C) {
    size_t at = first;
    for (int t = begin; t < end; ++t, at += C) {
      float a = 1.0f / (1.0f + expf(-g[at]));
      factor *= a;
      h = a * h + x[at];
    }
  }
  factors[warp][lane] = factor;
  addends[warp][lane] = h;
  __syncthreads();
  if (c >= C) return;
  h = 0.0f;
  for (int w = 0; w < warp; ++w) h = factors[w][lane] * h + addends[w][lane];
  size_t at = first;
  for (int t = begin; t < end; ++t, at += C) {
    float a = 1.0f / (1.0f + expf(-g[at]));
    h = a * h + x[at];
    y[at] = h;
  }
}

void gated_recurrence(float* y, const float* x, const float* g, int B, int T, int C, cudaStream_t stream) {
  if (B <= 0 || T <= 0 || C <= 0) return;
  int tiles = (C + 31) / 32;
  recurrence_kernel<<<B * tiles, 512, 0, stream>>>(y, x, g, T, C, tiles);
}
