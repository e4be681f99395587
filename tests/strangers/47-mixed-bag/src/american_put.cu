// American put by the binomial tree of Cox, Ross and Rubinstein. One block prices one option,
// the level of the tree being folded lives in shared memory.
#include <cuda_runtime.h>

__global__ void americanPut(const float *spot, const float *strike, const float *years, float *price,
                            float rate, float sigma, int steps)
{
    extern __shared__ float level[];
    float *cur = level;
    float *nxt = level + steps + 1;

    const float S = spot[blockIdx.x];
    const float K = strike[blockIdx.x];
    const float dt = years[blockIdx.x] / steps;
    const float vsdt = sigma * sqrtf(dt);
    const float u = expf(vsdt);
    const float d = 1.0f / u;
    const float disc = expf(-rate * dt);
    const float pu = (expf(rate * dt) - d) / (u - d);
    const float pd = 1.0f - pu;

    // payoff at expiry
    for (int j = threadIdx.x; j <= steps; j += blockDim.x)
        cur[j] = fmaxf(K - S * expf(vsdt * (2 * j - steps)), 0.0f);
    __syncthreads();

    for (int i = steps - 1; i >= 0; i--) {
        for (int j = threadIdx.x; j <= i; j += blockDim.x) {
            float hold = disc * (pu * cur[j + 1] + pd * cur[j]);
            float exercise = K - S * expf(vsdt * (2 * j - i));
            nxt[j] = fmaxf(hold, exercise);
        }
        __syncthreads();
        float *t = cur; cur = nxt; nxt = t;
    }
    if (threadIdx.x == 0)
        price[blockIdx.x] = cur[0];
}

void price_american_puts(const float *spot, const float *strike, const float *years, float *price,
                         int options, int steps, float rate, float sigma)
{
    size_t smem = 2 * (steps + 1) * sizeof(float);
    americanPut<<<options, 128, smem>>>(spot, strike, years, price, rate, sigma, steps);
}
