#include <cuda_runtime.h>



// A block has a query and goes through its keys in tiles of 32, whose scores its warps compute together.
__global__ void __launch_bounds__(128) decode_kernel(float* out, const float* q, const float* k, const float* v,
                                                     const int* lengths, int T, int D) {
  __shared__ float scores[32];
  size_t b = blockIdx.x;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  int length = min(max(lengths[b], 1), T);
  const float *qs = q + b * D, *ks = k + b * T * D, *vs = v + b * T * D;
  float scale = rsqrtf((float)D);
  for (int d0 = 0; d0 < D; d0 += 128) {
    float most = -INFINITY, sum = 0.0f, acc = 0.0f;
    int d = d0 + t;
    for (int t0 = 0; t0 < length; t0 += 32) {
      int rows = min(32, T - t0);
      for (int r = warp; r < rows; r += 4) {
        float s = 0.0f;
        for (int e = lane; e < D; e += 32) s += qs[e] * ks[(size_t)(t0 + r) * D + e];
        for (int m = 16; m > 0; m /= 2) s += __shfl_xor_sync(~0u, s, m);
        if (lane == 0) scores[r] = t0 + r < length ? s * scale : -INFINITY;
      }
      __syncthreads();
      float larger = most;
      for (int r = 0; r < rows; ++r) larger = fmaxf(larger, scores[r]);
      float shrink = expf(most - larger);
      sum *= shrink;
      acc *= shrink;
      most = larger;
      for (int r = 0; r < rows; ++r) {
        float p = expf(scores[r] - most);
        sum += p;
        if (d < D) acc += p * vs[(size_t)(t0 + r) * D + d];
      }
      __syncthreads();
    }
    if (d < D) out[b * D + d] = acc / sum;
  }
}

void decode_attention(float* out, const float* q, const float* k, const float* v, const int* lengths, int B, int T, int D,
                      cudaStream_t stream) {
  if (B <= 0 || D <= 0 || T <= 0) return;
  decode_kernel<<<B, 128, 0, stream>>>(out, q, k, v, lengths, T, D);
}
