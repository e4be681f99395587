// Triplet margin loss, mean over the batch: max(|a - p| - |a - n| + margin, 0) with euclidean distances.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__inline__ __device__ float warp_sum(float v)
{
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__global__ void triplet_rows(const __half* __restrict__ anchor, const __half* __restrict__ positive,
                             const __half* __restrict__ negative, float* __restrict__ row_loss, int dim, float margin,
                             float eps)
{
    __shared__ float sp[8], sn[8];
    const size_t base = (size_t)blockIdx.x * dim;
    float dp = 0.f, dn = 0.f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        const float a = __half2float(anchor[base + i]);
        const float p = a - __half2float(positive[base + i]) + eps;
        const float n = a - __half2float(negative[base + i]) + eps;
        dp += p * p;
        dn += n * n;
    }
    dp = warp_sum(dp);
    dn = warp_sum(dn);
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        sp[warp] = dp;
        sn[warp] = dn;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        dp = dn = 0.f;
        for (int i = 0; i < blockDim.x / 32; i++) {
            dp += sp[i];
            dn += sn[i];
        }
        row_loss[blockIdx.x] = fmaxf(sqrtf(dp) - sqrtf(dn) + margin, 0.f);
    }
}

__global__ void mean_of_rows(const float* row_loss, float* loss, int rows)
{
    __shared__ float s[8];
    float v = 0.f;
    for (int i = threadIdx.x; i < rows; i += blockDim.x) v += row_loss[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        v = 0.f;
        for (int i = 0; i < 8; i++) v += s[i];
        *loss = v / rows;
    }
}

cudaError_t triplet_margin_loss(const __half* anchor, const __half* positive, const __half* negative, float* loss,
                                float* row_loss, int rows, int dim, float margin, cudaStream_t stream)
{
    if (rows <= 0) return cudaErrorInvalidValue;
    triplet_rows<<<rows, 256, 0, stream>>>(anchor, positive, negative, row_loss, dim, margin, 1e-6f);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) return err;
    mean_of_rows<<<1, 256, 0, stream>>>(row_loss, loss, rows);
    return cudaGetLastError();
}
