// night 6: Adamax (Kingma & Ba, section 7.1), everything in place, four parameters per thread
#include <cuda_runtime.h>
#include <stdint.h>
#include <math.h>

struct AdamaxArgs {
    float step_size;   // lr / (1 - beta1^t)
    float beta1, beta2, eps, weight_decay;
};

__device__ inline void adamax_one(float& p, float& m, float& u, float g, const AdamaxArgs& a)
{
    g += a.weight_decay * p;
    m = a.beta1 * m + (1.0f - a.beta1) * g;
    u = fmaxf(a.beta2 * u, fabsf(g) + a.eps);
    p -= a.step_size * m / u;
}

__global__ void adamax_vec4(float4* p, float4* m, float4* u, const float4* g, size_t n4, AdamaxArgs a)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n4; i += (size_t)gridDim.x * blockDim.x) {
        float4 P = p[i], M = m[i], U = u[i], G = g[i];
        adamax_one(P.x, M.x, U.x, G.x, a);
        adamax_one(P.y, M.y, U.y, G.y, a);
        adamax_one(P.z, M.z, U.z, G.z, a);
        adamax_one(P.w, M.w, U.w, G.w, a);
        p[i] = P; m[i] = M; u[i] = U;
    }
}

__global__ void adamax_scalar(float* p, float* m, float* u, const float* g, size_t begin, size_t n, AdamaxArgs a)
{
    size_t i = begin + blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) adamax_one(p[i], m[i], u[i], g[i], a);
}

void adamax_step(float* param, float* exp_avg, float* exp_inf, const float* grad, int n, int t, float lr, float beta1,
                 float beta2, float eps, float weight_decay, cudaStream_t stream)
{
    AdamaxArgs a = {lr / (1.0f - powf(beta1, (float)t)), beta1, beta2, eps, weight_decay};
    const uintptr_t all = (uintptr_t)param | (uintptr_t)exp_avg | (uintptr_t)exp_inf | (uintptr_t)grad;
    const size_t n4 = all % 16 == 0 ? (size_t)n / 4 : 0;
    if (n4 > 0) {
        size_t blocks = (n4 + 255) / 256;
        if (blocks > 2048) blocks = 2048;
        adamax_vec4<<<(unsigned)blocks, 256, 0, stream>>>((float4*)param, (float4*)exp_avg, (float4*)exp_inf,
                                                          (const float4*)grad, n4, a);
    }
    const size_t rest = (size_t)n - 4 * n4;
    if (rest > 0)
        adamax_scalar<<<(unsigned)((rest + 255) / 256), 256, 0, stream>>>(param, exp_avg, exp_inf, grad, 4 * n4, n, a);
}
