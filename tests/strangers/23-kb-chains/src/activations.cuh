#ifndef ACTIVATIONS_CUH
#define ACTIVATIONS_CUH

#include <cuda_runtime.h>
#include <math.h>

static __device__ inline float act_leaky_relu(float x, float slope) { return x >= 0.0f ? x : x * slope; }
static __device__ inline float act_hardswish(float x) { return x * fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) / 6.0f; }
static __device__ inline float act_softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }
static __device__ inline float act_mish(float x) { return x * tanhf(act_softplus(x)); }
static __device__ inline float act_gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }

static inline int grid_for(long long n, int threads) { return (int)((n + threads - 1) / threads); }

#endif
