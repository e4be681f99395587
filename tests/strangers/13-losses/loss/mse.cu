#include "reduce.cuh"

// loss[0] = mean((pred - target)^2). partial: workspace of ceil(n / 256) floats for all versions.

__global__ void MseOneThreadPerChunk(const float* pred, const float* target, float* partial, int n) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = b * 256;
  if (begin >= n) return;
  float s = 0;
  for (int i = begin; i < begin + 256 && i < n; i++) s += (pred[i] - target[i]) * (pred[i] - target[i]);
  partial[b] = s;
}
__global__ void MseSerialSum(const float* partial, float* loss, int blocks, int n) {
  float s = 0;
  for (int i = 0; i < blocks; i++) s += partial[i];
  loss[0] = s / n;
}
void mse_naive(const float* pred, const float* target, float* partial, float* loss, int n) {
  int blocks = LossBlocks(n);
  MseOneThreadPerChunk<<<(blocks + 31) / 32, 32>>>(pred, target, partial, n);
  MseSerialSum<<<1, 1>>>(partial, loss, blocks, n);
}

__global__ void MseBlocks(const float* pred, const float* target, float* partial, int n) {
  __shared__ float smem[LOSS_THREADS];
  int i = blockIdx.x * LOSS_THREADS + threadIdx.x;
  float d = i < n ? pred[i] - target[i] : 0.f;
  d = BlockSum(d * d, smem);
  if (threadIdx.x == 0) partial[blockIdx.x] = d;
}
void mse_tiled(const float* pred, const float* target, float* partial, float* loss, int n) {
  int blocks = LossBlocks(n);
  MseBlocks<<<blocks, LOSS_THREADS>>>(pred, target, partial, n);
  FinishMean<<<1, LOSS_THREADS>>>(partial, loss, blocks, 1.0f / n);
}

// few blocks, four values per load, warp shuffles
__global__ void __launch_bounds__(256) MseVec(const float* __restrict__ pred, const float* __restrict__ target,
                                              float* __restrict__ partial, int n) {
  __shared__ float warps[8];
  const int stride = gridDim.x * 256, n4 = n / 4;
  float s = 0.f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += stride) {
    const float4 p = __ldg(reinterpret_cast<const float4*>(pred) + i);
    const float4 t = __ldg(reinterpret_cast<const float4*>(target) + i);
    const float a = p.x - t.x, b = p.y - t.y, c = p.z - t.z, d = p.w - t.w;
    s += a * a + b * b + c * c + d * d;
  }
  if (blockIdx.x == 0 && threadIdx.x < n - n4 * 4) {
    const float d = pred[n4 * 4 + threadIdx.x] - target[n4 * 4 + threadIdx.x];
    s += d * d;
  }
  for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) s += warps[w];
    partial[blockIdx.x] = s;
  }
}
void mse_fast(const float* pred, const float* target, float* partial, float* loss, int n) {
  int blocks = (n + 4095) / 4096;
  if (blocks > 1056) blocks = 1056;
  MseVec<<<blocks, 256>>>(pred, target, partial, n);
  FinishMean<<<1, LOSS_THREADS>>>(partial, loss, blocks, 1.0f / n);
}
