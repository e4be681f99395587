// Factorization machine over hashed categorical fields (CTR model, see ticket)
//
//   pooled[b][e] = sum_f V[idx[b][f]][e]
//   logit[b]     = w0 + sum_f w[idx[b][f]] + 1/2 * sum_e (pooled[b][e]^2 - sum_f V[idx[b][f]][e]^2)
//
// pooled goes on into the deep part of the network.

#include <cuda_runtime.h>

constexpr int BLOCK_SIZE = 64;

__global__ void fmForwardKernel(
    const int* indices,       // [B, F]
    const float* embedding,   // [V, E]
    const float* linear,      // [V]
    const float* w0,          // [1]
    float* pooled,            // [B, E]
    float* logit,             // [B]
    int F,
    int E)
{
    __shared__ float sdata[BLOCK_SIZE];

    const int sample = blockIdx.x;
    const int* myIndices = indices + (size_t)sample * F;

    // second order
    float acc = 0.0f;
    for (int e = threadIdx.x; e < E; e += BLOCK_SIZE)
    {
        float s = 0.0f;
        float ss = 0.0f;
        for (int f = 0; f < F; f++)
        {
            float v = embedding[(size_t)myIndices[f] * E + e];
            s += v;
            ss += v * v;
        }
        pooled[(size_t)sample * E + e] = s;
        acc += 0.5f * (s * s - ss);
    }

    // first order
    for (int f = threadIdx.x; f < F; f += BLOCK_SIZE)
    {
        acc += linear[myIndices[f]];
    }

    sdata[threadIdx.x] = acc;
    __syncthreads();
    for (int s = BLOCK_SIZE / 2; s > 0; s >>= 1)
    {
        if (threadIdx.x < s)
        {
            sdata[threadIdx.x] += sdata[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
    {
        logit[sample] = w0[0] + sdata[0];
    }
}

extern "C" int fm_embedding(const int* indices, const float* embedding, const float* linear, const float* w0,
                            float* pooled, float* logit, int B, int F, int V, int E)
{
    (void)V;
    fmForwardKernel<<<B, BLOCK_SIZE>>>(indices, embedding, linear, w0, pooled, logit, F, E);
    return (int)cudaGetLastError();
}
