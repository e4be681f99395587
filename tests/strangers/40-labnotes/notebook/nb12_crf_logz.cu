// Log-partition of a linear-chain CRF, the forward algorithm in log space.
//
//   alpha[0][j] = start[j] + emit[0][j]
//   alpha[t][j] = emit[t][j] + log sum_i exp(alpha[t-1][i] + trans[i][j])
//   logz        = log sum_j exp(alpha[len-1][j] + stop[j])
//
// One block per sequence, one thread per tag, transitions in shared memory (so at most about 100 tags).
#include <cuda_runtime.h>

#include <cmath>

namespace crf {

constexpr unsigned kAll = 0xffffffffu;

__device__ __forceinline__ float WarpMax(float v) {
  for (int lane = 16; lane > 0; lane >>= 1) v = fmaxf(v, __shfl_xor_sync(kAll, v, lane));
  return v;
}

__device__ __forceinline__ float WarpSum(float v) {
  for (int lane = 16; lane > 0; lane >>= 1) v += __shfl_xor_sync(kAll, v, lane);
  return v;
}

__global__ void Forward(const float* __restrict__ emit, const float* __restrict__ trans, const float* __restrict__ start,
                        const float* __restrict__ stop, const int* __restrict__ lengths, float* __restrict__ logz, int T,
                        int S) {
  extern __shared__ float shared[];
  float* const table = shared;
  float* alpha = shared + S * S;
  float* next = alpha + S;

  const int j = threadIdx.x;
  const float* const e = emit + (size_t)blockIdx.x * T * S;
  const int length = min(max(lengths[blockIdx.x], 1), T);

  for (int i = j; i < S * S; i += blockDim.x) table[i] = trans[i];
  if (j < S) alpha[j] = start[j] + e[j];
  __syncthreads();

  for (int t = 1; t < length; ++t) {
    if (j < S) {
      float top = -INFINITY;
      for (int i = 0; i < S; ++i) top = fmaxf(top, alpha[i] + table[i * S + j]);
      float sum = 0.f;
      for (int i = 0; i < S; ++i) sum += expf(alpha[i] + table[i * S + j] - top);
      next[j] = top + logf(sum) + e[(size_t)t * S + j];
    }
    __syncthreads();
    float* const old = alpha;
    alpha = next;
    next = old;
  }

  if (j < 32) {
    float top = -INFINITY;
    for (int i = j; i < S; i += 32) top = fmaxf(top, alpha[i] + stop[i]);
    top = WarpMax(top);
    float sum = 0.f;
    for (int i = j; i < S; i += 32) sum += expf(alpha[i] + stop[i] - top);
    sum = WarpSum(sum);
    if (j == 0) logz[blockIdx.x] = top + logf(sum);
  }
}

}  // namespace crf

extern "C" cudaError_t crf_logz(const float* emit, const float* trans, const float* start, const float* stop,
                                const int* lengths, float* logz, int B, int T, int S, cudaStream_t stream) {
  const size_t bytes = ((size_t)S * S + 2 * S) * sizeof(float);
  if (B <= 0 || T <= 0 || S <= 0 || bytes > 48 * 1024) return cudaErrorInvalidValue;
  const int threads = (S + 31) / 32 * 32;
  crf::Forward<<<B, threads, bytes, stream>>>(emit, trans, start, stop, lengths, logz, T, S);
  return cudaGetLastError();
}
