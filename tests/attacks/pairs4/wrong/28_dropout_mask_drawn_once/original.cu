#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Dropout: mask[i] says what is kept (for the backward pass; drawn from seed and i), y[i] = kept ? x[i] / keep : 0.
__global__ void draw_kernel(unsigned char* mask, int N, unsigned seed, float keep) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  unsigned h = seed ^ (unsigned)i * 0x9e3779b9u;
  for (int round = 0; round < 3; ++round) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
  }
  h ^= h >> 16;
  mask[i] = (h >> 8) * (1.0f / 16777216.0f) < keep;
}

__global__ void apply_kernel(bf16* y, const bf16* x, const unsigned char* mask, int N, float keep) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = __float2bfloat16(mask[i] ? __bfloat162float(x[i]) / keep : 0.0f);
}

void dropout(bf16* y, unsigned char* mask, const bf16* x, int N, int seed, float keep, cudaStream_t stream) {
  if (N <= 0) return;
  draw_kernel<<<(N + 255) / 256, 256, 0, stream>>>(mask, N, (unsigned)seed, keep);
  apply_kernel<<<(N + 255) / 256, 256, 0, stream>>>(y, x, mask, N, keep);
}
