// Normalisations of NCHW tensors.
#include "dispatch.h"

namespace fastnn {
namespace {

template <typename T>
struct Welford {
  T mean, m2, count;
};

template <typename T>
__device__ __forceinline__ Welford<T> combine(Welford<T> a, Welford<T> b) {
  const T n = a.count + b.count;
  if (n == T(0)) return a;
  const T delta = b.mean - a.mean;
  return {a.mean + delta * b.count / n, a.m2 + b.m2 + delta * delta * a.count * b.count / n, n};
}

template <typename T>
__device__ Welford<T> block_welford(Welford<T> w) {
  __shared__ T mean[32], m2[32], count[32];
  __syncthreads();
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    const Welford<T> other{__shfl_down_sync(0xffffffffu, w.mean, offset), __shfl_down_sync(0xffffffffu, w.m2, offset),
                           __shfl_down_sync(0xffffffffu, w.count, offset)};
    w = combine(w, other);
  }
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) mean[warp] = w.mean, m2[warp] = w.m2, count[warp] = w.count;
  __syncthreads();
  w = {mean[0], m2[0], count[0]};
  for (int i = 1; i < blockDim.x / 32; ++i) w = combine(w, Welford<T>{mean[i], m2[i], count[i]});
  return w;
}

// One block per group of cpg channels of one image: they are contiguous.
template <typename T>
__global__ void group_norm_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                                  T* __restrict__ y, int C, int HW, int groups, T eps) {
  const int cpg = C / groups;
  const int size = cpg * HW;
  const int g = blockIdx.x % groups;
  const int64_t base = static_cast<int64_t>(blockIdx.x) * size;
  Welford<T> w{0, 0, 0};
  for (int i = threadIdx.x; i < size; i += blockDim.x) w = combine(w, Welford<T>{x[base + i], 0, 1});
  w = block_welford(w);
  const T rstd = rsqrt(w.m2 / w.count + eps);
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const int c = g * cpg + i / HW;
    y[base + i] = (x[base + i] - w.mean) * rstd * weight[c] + bias[c];
  }
}

__global__ void batch_norm_inference_kernel(const float* __restrict__ x, const float* __restrict__ running_mean,
                                            const float* __restrict__ running_var, const float* __restrict__ weight,
                                            const float* __restrict__ bias, float* __restrict__ y, int64_t numel, int C,
                                            int HW, float eps) {
  CUDA_KERNEL_LOOP(i, numel) {
    const int c = (i / HW) % C;
    const float invstd = 1.0f / sqrtf(running_var[c] + eps);
    y[i] = (x[i] - running_mean[c]) * invstd * weight[c] + bias[c];
  }
}

__global__ void batch_norm_stats_kernel(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ invstd,
                                        float* __restrict__ running_mean, float* __restrict__ running_var, int N, int C,
                                        int HW, float momentum, float eps) {
  const int c = blockIdx.x;
  Welford<float> w{0, 0, 0};
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    const int n = i / HW, s = i % HW;
    w = combine(w, Welford<float>{x[(static_cast<int64_t>(n) * C + c) * HW + s], 0.f, 1.f});
  }
  w = block_welford(w);
  if (threadIdx.x == 0) {
    mean[c] = w.mean;
    invstd[c] = rsqrtf(w.m2 / w.count + eps);
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * w.mean;
    running_var[c] = (1 - momentum) * running_var[c] + momentum * w.m2 / (w.count - 1);  // unbiased
  }
}

}  // namespace
}  // namespace fastnn

void group_norm_forward(const float* x, const float* weight, const float* bias, float* y, int N, int C, int HW, int groups,
                        float eps, cudaStream_t stream) {
  fastnn::group_norm_kernel<float><<<N * groups, 128, 0, stream>>>(x, weight, bias, y, C, HW, groups, eps);
}

// An instance norm is a group norm with as many groups as channels.
void instance_norm_forward(const float* x, const float* weight, const float* bias, float* y, int N, int C, int HW, float eps,
                           cudaStream_t stream) {
  fastnn::group_norm_kernel<float><<<N * C, 64, 0, stream>>>(x, weight, bias, y, C, HW, C, eps);
}

void batch_norm_inference(const float* x, const float* running_mean, const float* running_var, const float* weight,
                          const float* bias, float* y, int N, int C, int HW, float eps, cudaStream_t stream) {
  const int64_t numel = static_cast<int64_t>(N) * C * HW;
  fastnn::batch_norm_inference_kernel<<<fastnn::num_blocks(numel), fastnn::kThreads, 0, stream>>>(
      x, running_mean, running_var, weight, bias, y, numel, C, HW, eps);
}

void batch_norm_train_stats(const float* x, float* mean, float* invstd, float* running_mean, float* running_var, int N, int C,
                            int HW, float momentum, float eps, cudaStream_t stream) {
  fastnn::batch_norm_stats_kernel<<<C, 128, 0, stream>>>(x, mean, invstd, running_mean, running_var, N, C, HW, momentum, eps);
}
