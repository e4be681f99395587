#include "reduce.cuh"

// Losses on embeddings [n][dim]: a block per sample.

__global__ void CosineKernel(const float* a, const float* b, float* out, int dim, float eps) {
  __shared__ float smem[LOSS_THREADS];
  const float* x = a + (size_t)blockIdx.x * dim;
  const float* y = b + (size_t)blockIdx.x * dim;
  float xy = 0, xx = 0, yy = 0;
  for (int d = threadIdx.x; d < dim; d += LOSS_THREADS) {
    xy += x[d] * y[d];
    xx += x[d] * x[d];
    yy += y[d] * y[d];
  }
  xy = BlockSum(xy, smem);
  xx = BlockSum(xx, smem);
  yy = BlockSum(yy, smem);
  if (threadIdx.x == 0) out[blockIdx.x] = 1.f - xy / fmaxf(sqrtf(xx) * sqrtf(yy), eps);
}
void cosine_embedding_loss(const float* a, const float* b, float* out, int n, int dim, float eps) {
  CosineKernel<<<n, LOSS_THREADS>>>(a, b, out, dim, eps);
}

__global__ void TripletKernel(const float* anchor, const float* positive, const float* negative, float* out, int dim, float margin) {
  __shared__ float smem[LOSS_THREADS];
  const size_t base = (size_t)blockIdx.x * dim;
  float dp = 0, dn = 0;
  for (int d = threadIdx.x; d < dim; d += LOSS_THREADS) {
    const float p = anchor[base + d] - positive[base + d], q = anchor[base + d] - negative[base + d];
    dp += p * p;
    dn += q * q;
  }
  dp = BlockSum(dp, smem);
  dn = BlockSum(dn, smem);
  if (threadIdx.x == 0) out[blockIdx.x] = fmaxf(sqrtf(dp) - sqrtf(dn) + margin, 0.f);
}
void triplet_margin_loss(const float* anchor, const float* positive, const float* negative, float* out, int n, int dim, float margin) {
  TripletKernel<<<n, LOSS_THREADS>>>(anchor, positive, negative, out, dim, margin);
}

// gradient of the mean squared error, in place of pred
__global__ void MseGradKernel(float* pred, const float* target, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pred[i] = scale * (pred[i] - target[i]);
}
void mse_grad_inplace(float* pred, const float* target, int n) {
  MseGradKernel<<<(n + 255) / 256, 256>>>(pred, target, 2.0f / n, n);
}
