// Triplet margin loss, p = 2, mean reduction.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// one warp per triplet
__global__ void triplet_rows(const __nv_bfloat16* __restrict__ anchor, const __nv_bfloat16* __restrict__ pos,
                             const __nv_bfloat16* __restrict__ neg, float* __restrict__ row_loss, int batch, int dim,
                             float margin) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= batch) return;

    const size_t off = (size_t)row * dim;
    float dp = 0.f, dn = 0.f;
    for (int i = warp.thread_rank(); i < dim; i += warp.size()) {
        const float a = __bfloat162float(anchor[off + i]);
        const float p = a - __bfloat162float(pos[off + i]) + 1e-6f;
        const float n = a - __bfloat162float(neg[off + i]) + 1e-6f;
        dp += p * p;
        dn += n * n;
    }
    dp = cg::reduce(warp, dp, cg::plus<float>());
    dn = cg::reduce(warp, dn, cg::plus<float>());
    if (warp.thread_rank() == 0) row_loss[row] = fmaxf(sqrtf(dp) - sqrtf(dn) + margin, 0.f);
}

__global__ void mean_of_rows(const float* row_loss, float* loss, int batch) {
    __shared__ float buf[512];
    float s = 0.f;
    for (int i = threadIdx.x; i < batch; i += blockDim.x) s += row_loss[i];
    buf[threadIdx.x] = s;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) buf[threadIdx.x] += buf[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) *loss = buf[0] / batch;
}

void triplet_margin_loss(const __nv_bfloat16* anchor, const __nv_bfloat16* pos, const __nv_bfloat16* neg, float* row_loss,
                         float* loss, int batch, int dim, float margin, cudaStream_t stream = 0) {
    triplet_rows<<<(batch + 7) / 8, 256, 0, stream>>>(anchor, pos, neg, row_loss, batch, dim, margin);
    mean_of_rows<<<1, 512, 0, stream>>>(row_loss, loss, batch);
}
