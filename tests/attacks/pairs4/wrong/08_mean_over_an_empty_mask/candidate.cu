#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Embeddings of sentences: y[B,D] is the mean of those x[b,t,:] with mask[b,t].
// A block has 32 elements of a sentence; its 8 warps share the tokens, and the reciprocal is taken once.
__global__ void __launch_bounds__(256)
    masked_mean_kernel(bf16* y, const bf16* __restrict__ x, const bool* __restrict__ mask, int T, int D, int tiles) {
  __shared__ float sums[8][32];
  __shared__ int counts[8];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int b = blockIdx.x / tiles, d = blockIdx.x % tiles * 32 + lane;
  float sum = 0.0f;
  int count = 0;
  for (int t0 = warp * 32; t0 < T; t0 += 256) {
    unsigned set = __ballot_sync(0xffffffffu, t0 + lane < T && mask[(size_t)b * T + t0 + lane]);
    count += __popc(set);
    while (set) {
      int t = t0 + __ffs(set) - 1;
      set &= set - 1;
      if (d < D) sum += __bfloat162float(x[((size_t)b * T + t) * D + d]);
    }
  }
  sums[warp][lane] = sum;
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  if (warp == 0 && d < D) {
    int n = 0;
    float total = 0.0f;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      total += sums[w][lane];
      n += counts[w];
    }
    y[(size_t)b * D + d] = __float2bfloat16(total * (1.0f / n));
  }
}

void masked_mean(bf16* y, const bf16* x, const bool* mask, int B, int T, int D, cudaStream_t stream) {
  if (B <= 0 || D <= 0) return;
  int tiles = (D + 31) / 32;
  masked_mean_kernel<<<B * tiles, 256, 0, stream>>>(y, x, mask, T, D, tiles);
}
