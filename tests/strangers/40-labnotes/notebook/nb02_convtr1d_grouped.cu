/*
 * Transposed 1D convolution with groups and dilation, for the vocoder experiments.
 *
 *   y[n][g*Cog + o][t] = bias[..] + sum over k, c with i * stride = t + pad - k * dil:  x[n][g*Cig + c][i] * w[g*Cig + c][o][k]
 *
 * half in and out, float sums.  A block shares one output channel, whose weights it keeps in shared memory as floats,
 * window position first so that the inner loop runs over neighbours.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define THREADS 256
#define MAX_SHARED (48 * 1024)

__global__ void __launch_bounds__(THREADS)
convtr1d_kernel(const __half* __restrict__ x, const __half* __restrict__ w, const float* __restrict__ bias,
                __half* __restrict__ y, int L, int Lo, int G, int Cig, int Cog, int K, int stride, int pad, int dil)
{
  extern __shared__ float taps[];   // [K][Cig]

  const int channel = blockIdx.y;
  const int n = blockIdx.z;
  const int g = channel / Cog;
  const int o = channel - g * Cog;

  for (int j = threadIdx.x; j < Cig * K; j += THREADS) {
    const int k = j / Cig;
    const int c = j - k * Cig;
    taps[j] = __half2float(w[((size_t)(g * Cig + c) * Cog + o) * K + k]);
  }
  __syncthreads();

  const int t = blockIdx.x * THREADS + threadIdx.x;
  if (t >= Lo)
    return;

  const __half* group = x + ((size_t)n * G + g) * Cig * L;
  float acc = bias[channel];
  for (int k = 0; k < K; ++k) {
    const int at = t + pad - k * dil;
    if (at < 0)
      break;
    if (at % stride != 0)
      continue;
    const int i = at / stride;
    if (i >= L)
      continue;
    const float* tap = taps + k * Cig;
#pragma unroll 4
    for (int c = 0; c < Cig; ++c)
      acc += __half2float(group[(size_t)c * L + i]) * tap[c];
  }
  y[((size_t)n * G * Cog + channel) * Lo + t] = __float2half(acc);
}

extern "C" int convtr1d_grouped(const __half* x, const __half* w, const float* bias, __half* y, int N, int L, int G, int Cig,
                                int Cog, int K, int stride, int pad, int dil, cudaStream_t stream)
{
  const int Lo = (L - 1) * stride - 2 * pad + dil * (K - 1) + 1;
  const size_t shared = (size_t)Cig * K * sizeof(float);
  if (Lo <= 0 || shared > MAX_SHARED)
    return -1;
  const dim3 grid((Lo + THREADS - 1) / THREADS, G * Cog, N);
  convtr1d_kernel<<<grid, THREADS, shared, stream>>>(x, w, bias, y, L, Lo, G, Cig, Cog, K, stride, pad, dil);
  return cudaGetLastError() == cudaSuccess ? 0 : -2;
}
