#include "reduce.cuh"

struct Bce {  // with logits, the stable form
  __device__ float operator()(float x, float y) const { return fmaxf(x, 0.f) - x * y + log1pf(expf(-fabsf(x))); }
};
struct Huber {
  float delta;
  __device__ float operator()(float x, float y) const {
    const float d = fabsf(x - y);
    return d <= delta ? 0.5f * d * d : delta * (d - 0.5f * delta);
  }
};
struct KlDiv {  // x is a log-probability, y a probability
  __device__ float operator()(float x, float y) const { return y > 0.f ? y * (logf(y) - x) : 0.f; }
};
struct Hinge {
  __device__ float operator()(float x, float y) const { return fmaxf(0.f, 1.f - x * y); }
};

template <class Loss>
__global__ void LossPartial(const float* x, const float* y, float* partial, int n, Loss loss) {
  __shared__ float smem[LOSS_THREADS];
  const int i = blockIdx.x * LOSS_THREADS + threadIdx.x;
  const float v = BlockSum(i < n ? loss(x[i], y[i]) : 0.f, smem);
  if (threadIdx.x == 0) partial[blockIdx.x] = v;
}

template <class Loss>
static void MeanLoss(const float* x, const float* y, float* partial, float* out, int n, Loss loss) {
  const int blocks = LossBlocks(n);
  LossPartial<<<blocks, LOSS_THREADS>>>(x, y, partial, n, loss);
  FinishMean<<<1, LOSS_THREADS>>>(partial, out, blocks, 1.0f / n);
}

void bce_with_logits(const float* x, const float* y, float* partial, float* out, int n) { MeanLoss(x, y, partial, out, n, Bce()); }
void huber_loss(const float* x, const float* y, float* partial, float* out, float delta, int n) { MeanLoss(x, y, partial, out, n, Huber{delta}); }
void kl_div(const float* x, const float* y, float* partial, float* out, int n) { MeanLoss(x, y, partial, out, n, KlDiv()); }

// hinge, unreduced
__global__ void HingeKernel(const float* x, const float* y, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = Hinge()(x[i], y[i]);
}
void hinge_loss(const float* x, const float* y, float* out, int n) { HingeKernel<<<128, 256>>>(x, y, out, n); }
