// Activations. Each functor is applied by a grid-stride loop.
#include "dispatch.h"

namespace fastnn {
namespace {

template <typename scalar_t>
struct MishFunctor {
  __device__ __forceinline__ scalar_t operator()(scalar_t x) const { return x * tanh(log1p(exp(x))); }
};

template <typename scalar_t>
struct EluFunctor {
  scalar_t alpha;
  __device__ __forceinline__ scalar_t operator()(scalar_t x) const { return x > 0 ? x : alpha * expm1(x); }
};

template <typename scalar_t>
struct SoftplusFunctor {
  scalar_t beta, threshold;
  __device__ __forceinline__ scalar_t operator()(scalar_t x) const {
    return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;
  }
};

template <typename scalar_t>
struct GeluFunctor {
  __device__ __forceinline__ scalar_t operator()(scalar_t x) const {
    return x * scalar_t(0.5) * (scalar_t(1) + erf(x * scalar_t(M_SQRT1_2)));
  }
};

template <typename scalar_t, typename Functor>
__global__ void unary_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ output, int64_t numel, Functor f) {
  CUDA_KERNEL_LOOP(i, numel) { output[i] = f(input[i]); }
}

}  // namespace
}  // namespace fastnn

void mish_forward(const float* input, float* output, int64_t numel, cudaStream_t stream) {
  using namespace fastnn;
  unary_kernel<<<num_blocks(numel), kThreads, 0, stream>>>(input, output, numel, MishFunctor<float>{});
}

void elu_forward(const float* input, float* output, float alpha, int64_t numel, cudaStream_t stream) {
  using namespace fastnn;
  unary_kernel<<<num_blocks(numel), kThreads, 0, stream>>>(input, output, numel, EluFunctor<float>{alpha});
}

void softplus_forward(const float* input, float* output, float beta, float threshold, int64_t numel, cudaStream_t stream) {
  using namespace fastnn;
  unary_kernel<<<num_blocks(numel), kThreads, 0, stream>>>(input, output, numel, SoftplusFunctor<float>{beta, threshold});
}

// The double specialization that the tests use.
void gelu_exact_double(const double* input, double* output, int64_t numel) {
  using namespace fastnn;
  unary_kernel<<<num_blocks(numel), kThreads>>>(input, output, numel, GeluFunctor<double>{});
}
