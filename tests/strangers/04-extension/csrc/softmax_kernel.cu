// Softmax over the last dimension of a [outer, dim] tensor.
#include "dispatch.h"

namespace fastnn {
namespace {

template <typename scalar_t>
__global__ void softmax_one_thread_per_row(scalar_t* out, const scalar_t* in, int outer, int dim) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= outer) return;
  scalar_t m = -std::numeric_limits<scalar_t>::infinity();
  for (int c = 0; c < dim; ++c) m = max(m, in[r * dim + c]);
  scalar_t s = 0;
  for (int c = 0; c < dim; ++c) s += exp(in[r * dim + c] - m);
  for (int c = 0; c < dim; ++c) out[r * dim + c] = exp(in[r * dim + c] - m) / s;
}

struct MaxOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct AddOp {
  __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

template <typename Op>
__device__ float block_reduce(float* smem, float value, Op op) {
  __syncthreads();  // the last use of smem
  smem[threadIdx.x] = value;
  __syncthreads();
  for (int offset = blockDim.x >> 1; offset > 0; offset >>= 1) {
    if (threadIdx.x < offset) smem[threadIdx.x] = op(smem[threadIdx.x], smem[threadIdx.x + offset]);
    __syncthreads();
  }
  return smem[0];
}

__global__ void softmax_block_per_row(float* out, const float* in, int dim) {
  __shared__ float smem[128];
  const float* x = in + static_cast<int64_t>(blockIdx.x) * dim;
  float* y = out + static_cast<int64_t>(blockIdx.x) * dim;
  float m = -std::numeric_limits<float>::infinity();
  for (int c = threadIdx.x; c < dim; c += blockDim.x) m = fmaxf(m, x[c]);
  m = block_reduce(smem, m, MaxOp());
  float s = 0.f;
  for (int c = threadIdx.x; c < dim; c += blockDim.x) s += expf(x[c] - m);
  s = block_reduce(smem, s, AddOp());
  for (int c = threadIdx.x; c < dim; c += blockDim.x) y[c] = expf(x[c] - m) / s;
}

// Online softmax: maximum and sum in one pass, a warp per row, vectors where dim allows.
template <int kWarps>
__global__ void __launch_bounds__(kWarps * 32)
softmax_online(float* __restrict__ out, const float* __restrict__ in, int outer, int dim) {
  const int row = blockIdx.x * kWarps + (threadIdx.x >> 5);
  const int lane = threadIdx.x & 31;
  if (row >= outer) return;
  const float* x = in + static_cast<int64_t>(row) * dim;
  float* y = out + static_cast<int64_t>(row) * dim;
  const bool aligned = (dim & 3) == 0;

  float m = -std::numeric_limits<float>::infinity();
  float s = 0.f;
  const auto update = [&](float v) {
    const float bigger = fmaxf(m, v);
    s = s * expf(m - bigger) + expf(v - bigger);
    m = bigger;
  };
  if (aligned) {
    for (int c = lane; c < dim / 4; c += 32) {
      const float4 v = reinterpret_cast<const float4*>(x)[c];
      update(v.x), update(v.y), update(v.z), update(v.w);
    }
  } else {
    for (int c = lane; c < dim; c += 32) update(x[c]);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    const float other_m = __shfl_xor_sync(0xffffffffu, m, mask);
    const float other_s = __shfl_xor_sync(0xffffffffu, s, mask);
    const float bigger = fmaxf(m, other_m);
    // a lane that saw nothing has m = -inf and s = 0
    s = (s == 0.f ? 0.f : s * expf(m - bigger)) + (other_s == 0.f ? 0.f : other_s * expf(other_m - bigger));
    m = bigger;
  }
  const float inv = 1.f / s;
  if (aligned) {
    for (int c = lane; c < dim / 4; c += 32) {
      float4 v = reinterpret_cast<const float4*>(x)[c];
      v.x = expf(v.x - m) * inv, v.y = expf(v.y - m) * inv, v.z = expf(v.z - m) * inv, v.w = expf(v.w - m) * inv;
      reinterpret_cast<float4*>(y)[c] = v;
    }
  } else {
    for (int c = lane; c < dim; c += 32) y[c] = expf(x[c] - m) * inv;
  }
}

}  // namespace
}  // namespace fastnn

void softmax_naive(float* out, const float* in, int outer, int dim) {
  fastnn::softmax_one_thread_per_row<float><<<fastnn::num_blocks(outer, 64), 64>>>(out, in, outer, dim);
}

void softmax_tiled(float* out, const float* in, int outer, int dim) {
  fastnn::softmax_block_per_row<<<outer, 128>>>(out, in, dim);
}

void softmax_fast(float* out, const float* in, int outer, int dim) {
  constexpr int kWarps = 4;
  fastnn::softmax_online<kWarps><<<(outer + kWarps - 1) / kWarps, kWarps * 32>>>(out, in, outer, dim);
}

// log_softmax over the middle dimension of [outer, dim, inner]
__global__ void log_softmax_spatial(float* out, const float* in, int outer, int dim, int inner) {
  CUDA_KERNEL_LOOP(index, static_cast<int64_t>(outer) * inner) {
    const int o = index / inner, i = index % inner;
    const float* x = in + static_cast<int64_t>(o) * dim * inner + i;
    float* y = out + static_cast<int64_t>(o) * dim * inner + i;
    float m = x[0];
    for (int d = 1; d < dim; ++d) m = fmaxf(m, x[d * inner]);
    float s = 0;
    for (int d = 0; d < dim; ++d) s += expf(x[d * inner] - m);
    const float lse = m + logf(s);
    for (int d = 0; d < dim; ++d) y[d * inner] = x[d * inner] - lse;
  }
}

void log_softmax_forward(float* out, const float* in, int outer, int dim, int inner) {
  log_softmax_spatial<<<fastnn::num_blocks(static_cast<int64_t>(outer) * inner), fastnn::kThreads>>>(out, in, outer, dim, inner);
}
