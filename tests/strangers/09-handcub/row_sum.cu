#include "include/block.cuh"

// sums of the rows of x[rows][cols]

__global__ void RowSumThread(const float* x, float* out, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.0f;
    for (int c = 0; c < cols; ++c) s += x[(size_t)r * cols + c];
    out[r] = s;
}

template <int THREADS>
__global__ void RowSumBlock(const float* x, float* out, int cols) {
    using Reduce = hc::BlockReduce<THREADS, float, hc::Sum<float>>;
    __shared__ typename Reduce::TempStorage temp;
    float s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) s += x[(size_t)blockIdx.x * cols + c];
    s = Reduce(temp).reduce(s);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}

template <int THREADS, int ITEMS>
__global__ __launch_bounds__(THREADS) void RowSumVec(const float* __restrict__ x, float* __restrict__ out, int cols) {
    using Reduce = hc::BlockReduce<THREADS, float, hc::Sum<float>>;
    __shared__ typename Reduce::TempStorage temp;
    const float* row = x + (size_t)blockIdx.x * cols;
    float acc[ITEMS] = {};
    int c = threadIdx.x * 4;
    if ((cols & 3) == 0) {
        for (; c + (ITEMS - 1) * THREADS * 4 < cols; c += ITEMS * THREADS * 4) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const float4 v = __ldg(reinterpret_cast<const float4*>(row + c + i * THREADS * 4));
                acc[i] += (v.x + v.y) + (v.z + v.w);
            }
        }
        for (; c < cols; c += THREADS * 4) {
            const float4 v = __ldg(reinterpret_cast<const float4*>(row + c));
            acc[0] += (v.x + v.y) + (v.z + v.w);
        }
    } else {
        for (c = threadIdx.x; c < cols; c += THREADS) acc[0] += row[c];
    }
    float s = 0.0f;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) s += acc[i];
    s = Reduce(temp).reduce(s);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}

void row_sum_naive(const float* x, float* out, int rows, int cols) {
    RowSumThread<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
void row_sum_tiled(const float* x, float* out, int rows, int cols) { RowSumBlock<256><<<rows, 256>>>(x, out, cols); }
void row_sum_fast(const float* x, float* out, int rows, int cols) { RowSumVec<128, 4><<<rows, 128>>>(x, out, cols); }
