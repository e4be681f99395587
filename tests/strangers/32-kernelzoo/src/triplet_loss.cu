// nn.TripletMarginLoss(margin, p=2, eps=1e-6), mean reduction, fp16 embeddings, fp32 loss. A warp per triplet.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

__global__ void triplet_margin_kernel(const __half* __restrict__ anchor, const __half* __restrict__ positive,
                                      const __half* __restrict__ negative, float* __restrict__ loss, int batch,
                                      int dim, float margin, float inv_batch)
{
    __shared__ float partial[8];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int row = blockIdx.x * 8 + warp;

    float hinge = 0.f;
    if (row < batch) {
        const size_t base = (size_t)row * dim;
        float dp = 0.f, dn = 0.f;
        for (int i = lane; i < dim; i += 32) {
            const float a = __half2float(anchor[base + i]);
            const float p = a - __half2float(positive[base + i]) + 1e-6f;
            const float n = a - __half2float(negative[base + i]) + 1e-6f;
            dp += p * p;
            dn += n * n;
        }
        dp = sqrtf(warp_sum(dp));
        dn = sqrtf(warp_sum(dn));
        hinge = fmaxf(dp - dn + margin, 0.f);
    }
    if (lane == 0) partial[warp] = hinge;
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = 0.f;
        for (int w = 0; w < 8; ++w) s += partial[w];
        atomicAdd(loss, s * inv_batch);
    }
}

void triplet_margin_loss_half(const __half* anchor, const __half* positive, const __half* negative, float* loss,
                              int batch, int dim, float margin, cudaStream_t stream)
{
    cudaMemsetAsync(loss, 0, sizeof(float), stream);
    if (batch <= 0) return;
    triplet_margin_kernel<<<(batch + 7) / 8, 256, 0, stream>>>(anchor, positive, negative, loss, batch, dim, margin,
                                                               1.0f / batch);
}
