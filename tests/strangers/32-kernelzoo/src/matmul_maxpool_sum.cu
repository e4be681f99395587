// y = scale * sum(maxpool1d(x @ W^T + b, pool), dim=1), half precision.
// Step 1 writes the product to a workspace, step 2 pools and sums it, a warp for each row.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define BS 16

__global__ void linear_kernel(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ bias,
                              half* __restrict__ out, int batch, int in_features, int out_features)
{
    __shared__ float xs[BS][BS + 1];
    __shared__ float ws[BS][BS + 1];

    int row = blockIdx.y * BS + threadIdx.y;
    int col = blockIdx.x * BS + threadIdx.x;
    int wrow = blockIdx.x * BS + threadIdx.y;

    float acc = 0.0f;
    for (int k0 = 0; k0 < in_features; k0 += BS) {
        int k = k0 + threadIdx.x;
        xs[threadIdx.y][threadIdx.x] =
            (row < batch && k < in_features) ? __half2float(x[(size_t)row * in_features + k]) : 0.0f;
        ws[threadIdx.y][threadIdx.x] =
            (wrow < out_features && k < in_features) ? __half2float(w[(size_t)wrow * in_features + k]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < BS; ++i) acc += xs[threadIdx.y][i] * ws[threadIdx.x][i];
        __syncthreads();
    }
    if (row < batch && col < out_features)
        out[(size_t)row * out_features + col] = __float2half(acc + __half2float(bias[col]));
}

__global__ void pool_sum_kernel(const half* __restrict__ h, half* __restrict__ y, int batch, int features, int pool,
                                float scale)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= batch) return;

    const half* p = h + (size_t)row * features;
    int windows = features / pool;
    float sum = 0.0f;
    for (int i = lane; i < windows; i += 32) {
        half best = p[i * pool];
        for (int j = 1; j < pool; ++j) {
            half v = p[i * pool + j];
            if (__hgt(v, best)) best = v;
        }
        sum += __half2float(best);
    }
    for (int mask = 16; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (lane == 0) y[row] = __float2half(sum * scale);
}

extern "C" void matmul_maxpool_sum_scale(const half* x, const half* weight, const half* bias, half* y,
                                         half* workspace, int batch, int in_features, int out_features, int pool,
                                         float scale, cudaStream_t stream)
{
    if (batch <= 0 || in_features <= 0 || out_features <= 0 || pool <= 0) return;
    dim3 threads(BS, BS);
    dim3 blocks((out_features + BS - 1) / BS, (batch + BS - 1) / BS);
    linear_kernel<<<blocks, threads, 0, stream>>>(x, weight, bias, workspace, batch, in_features, out_features);
    pool_sum_kernel<<<(batch + 3) / 4, 128, 0, stream>>>(workspace, y, batch, out_features, pool, scale);
}
