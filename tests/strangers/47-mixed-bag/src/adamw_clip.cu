// One optimizer step: clip the gradient by its global norm, AdamW on fp32 master weights, refresh
// of the bf16 copy which the model runs with. Three launches, nothing comes back to the host.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cmath>

#include "mb/warp.cuh"

namespace optim {

constexpr int kNormBlocks = 512;

struct HyperParams {
    float lr, beta1, beta2, eps, weight_decay;
    float bias1, bias2;      // 1 - beta^t
    float max_norm;
};

__global__ void grad_sumsq(const __nv_bfloat16* __restrict__ grad, float* __restrict__ partial, long n) {
    float s = 0.f;
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) {
        float g = __bfloat162float(grad[i]);
        s += g * g;
    }
    s = mb::block_reduce(s, mb::Add{}, 0.f);
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

__global__ void finish_norm(const float* __restrict__ partial, float* __restrict__ norm) {
    float s = mb::block_reduce(partial[threadIdx.x], mb::Add{}, 0.f);
    if (threadIdx.x == 0) *norm = sqrtf(s);
}

__device__ __forceinline__ void update(float& p, float g, float& m, float& v, const HyperParams& hp) {
    m = hp.beta1 * m + (1.f - hp.beta1) * g;
    v = hp.beta2 * v + (1.f - hp.beta2) * g * g;
    float mhat = m / hp.bias1;
    float vhat = v / hp.bias2;
    p -= hp.lr * (mhat / (sqrtf(vhat) + hp.eps) + hp.weight_decay * p);
}

__global__ void adamw(float* __restrict__ master, const __nv_bfloat16* __restrict__ grad,
                      float* __restrict__ exp_avg, float* __restrict__ exp_avg_sq,
                      __nv_bfloat16* __restrict__ model, const float* __restrict__ norm, long n, HyperParams hp) {
    const float clip = fminf(1.f, hp.max_norm / (*norm + 1e-6f));
    const long i4 = (blockIdx.x * (long)blockDim.x + threadIdx.x) * 4;
    if (i4 + 4 <= n) {
        float4 p = *reinterpret_cast<float4*>(master + i4);
        float4 m = *reinterpret_cast<float4*>(exp_avg + i4);
        float4 v = *reinterpret_cast<float4*>(exp_avg_sq + i4);
        update(p.x, __bfloat162float(grad[i4 + 0]) * clip, m.x, v.x, hp);
        update(p.y, __bfloat162float(grad[i4 + 1]) * clip, m.y, v.y, hp);
        update(p.z, __bfloat162float(grad[i4 + 2]) * clip, m.z, v.z, hp);
        update(p.w, __bfloat162float(grad[i4 + 3]) * clip, m.w, v.w, hp);
        *reinterpret_cast<float4*>(master + i4) = p;
        *reinterpret_cast<float4*>(exp_avg + i4) = m;
        *reinterpret_cast<float4*>(exp_avg_sq + i4) = v;
        model[i4 + 0] = __float2bfloat16(p.x);
        model[i4 + 1] = __float2bfloat16(p.y);
        model[i4 + 2] = __float2bfloat16(p.z);
        model[i4 + 3] = __float2bfloat16(p.w);
    } else {
        for (long i = i4; i < n; ++i) {
            float p = master[i], m = exp_avg[i], v = exp_avg_sq[i];
            update(p, __bfloat162float(grad[i]) * clip, m, v, hp);
            master[i] = p; exp_avg[i] = m; exp_avg_sq[i] = v;
            model[i] = __float2bfloat16(p);
        }
    }
}

}  // namespace optim

void adamw_clip_step(float* master, const __nv_bfloat16* grad, float* exp_avg, float* exp_avg_sq,
                     __nv_bfloat16* model, float* partial, float* norm, long n, int step,
                     float lr, float beta1, float beta2, float eps, float weight_decay, float max_norm,
                     cudaStream_t stream) {
    optim::HyperParams hp{lr, beta1, beta2, eps, weight_decay,
                          float(1.0 - std::pow(double(beta1), step)),
                          float(1.0 - std::pow(double(beta2), step)), max_norm};
    optim::grad_sumsq<<<optim::kNormBlocks, 256, 0, stream>>>(grad, partial, n);
    optim::finish_norm<<<1, optim::kNormBlocks, 0, stream>>>(partial, norm);
    long quads = (n + 3) / 4;
    optim::adamw<<<(unsigned)((quads + 255) / 256), 256, 0, stream>>>(master, grad, exp_avg, exp_avg_sq,
                                                                      model, norm, n, hp);
}
