#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Embeddings of sentences: y[B,D] is the mean of those x[b,t,:] with mask[b,t]; zeros for an empty sentence.
__global__ void masked_mean_kernel(bf16* y, const bf16* x, const bool* mask, int B, int T, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * D) return;
  int b = i / D, d = i % D;
  float sum = 0.0f;
  int count = 0;
  for (int t = 0; t < T; ++t)
    if (mask[(size_t)b * T + t]) {
      sum += __bfloat162float(x[((size_t)b * T + t) * D + d]);
      ++count;
    }
  y[i] = __float2bfloat16(sum / (count > 0 ? count : 1));
}

void masked_mean(bf16* y, const bf16* x, const bool* mask, int B, int T, int D, cudaStream_t stream) {
  if (B <= 0 || D <= 0) return;
  masked_mean_kernel<<<(B * D + 127) / 128, 128, 0, stream>>>(y, x, mask, B, T, D);
}
