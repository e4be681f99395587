#include "include/block.cuh"

// values outside of [lo, hi) are dropped; one private histogram per block
template <int MAX_BINS>
__global__ void HistogramEven(const float* __restrict__ x, int* __restrict__ counts, int n, int bins, float lo, float hi) {
    __shared__ int local[MAX_BINS];
    for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    const float scale = bins / (hi - lo);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float v = x[i];
        if (v >= lo && v < hi) {
            const int b = (int)((v - lo) * scale);
            atomicAdd(&local[b < bins ? b : bins - 1], 1);
        }
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        if (local[b]) atomicAdd(&counts[b], local[b]);
}

int histogram_even(const float* x, int* counts, int n, int bins, float lo, float hi, cudaStream_t stream) {
    if (bins > 1024) return 1;
    cudaMemsetAsync(counts, 0, bins * sizeof(int), stream);
    HistogramEven<1024><<<(n + 1023) / 1024, 256, 0, stream>>>(x, counts, n, bins, lo, hi);
    return 0;
}

// weighted bincount straight into global memory
__global__ void BinCount(const int* keys, const float* weights, float* out, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (unsigned)keys[i] < (unsigned)bins) atomicAdd(out + keys[i], weights[i]);
}

void bincount_weighted(const int* keys, const float* weights, float* out, int n, int bins) {
    cudaMemsetAsync(out, 0, bins * sizeof(float));
    BinCount<<<(n + 255) / 256, 256>>>(keys, weights, out, n, bins);
}
