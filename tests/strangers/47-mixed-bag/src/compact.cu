// Stable stream compaction: keeps x[i] > threshold, in order, and counts them. What is left of
// `out` is zero.
//   1. tally    survivors of each tile
//   2. offsets  exclusive scan of the tallies, in one block
//   3. scatter
#include <cuda_runtime.h>

#include "mb/warp.cuh"

namespace {

constexpr int THREADS = 256;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

struct Above {
    float threshold;
    __device__ bool operator()(float v) const { return v > threshold; }
};

template <class Pred>
__global__ void tally(const float* __restrict__ x, int* __restrict__ tile_count, int n, Pred keep) {
    int base = blockIdx.x * TILE;
    int mine = 0;
#pragma unroll
    for (int j = 0; j < ITEMS; ++j) {
        int i = base + j * THREADS + threadIdx.x;
        mine += i < n && keep(x[i]);
    }
    mine = mb::warp_reduce(mine, mb::Add{});
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) tile_count[blockIdx.x] = total;
}

__global__ void offsets(int* tile_count, int* count, int tiles) {
    __shared__ int s[1024];
    int carry = 0;
    for (int start = 0; start < tiles; start += 1024) {
        int i = start + threadIdx.x;
        int v = i < tiles ? tile_count[i] : 0;
        s[threadIdx.x] = v;
        __syncthreads();
        for (int d = 1; d < 1024; d *= 2) {       // Hillis-Steele
            int t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
            __syncthreads();
            s[threadIdx.x] += t;
            __syncthreads();
        }
        if (i < tiles) tile_count[i] = carry + s[threadIdx.x] - v;
        carry += s[1023];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = carry;
}

template <class Pred>
__global__ void scatter(const float* __restrict__ x, const int* __restrict__ tile_offset,
                        float* __restrict__ out, int n, Pred keep) {
    __shared__ int warp_count[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int at = tile_offset[blockIdx.x];
    for (int j = 0; j < ITEMS; ++j) {
        int i = blockIdx.x * TILE + j * THREADS + threadIdx.x;
        float v = i < n ? x[i] : 0.f;
        bool k = i < n && keep(v);
        unsigned ballot = __ballot_sync(0xffffffffu, k);
        if (lane == 0) warp_count[warp] = __popc(ballot);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < THREADS / 32; ++w) {
            if (w < warp) before += warp_count[w];
            all += warp_count[w];
        }
        if (k) out[at + before + __popc(ballot & ((1u << lane) - 1))] = v;
        at += all;
        __syncthreads();
    }
}

}  // namespace

void compact_above(const float* x, float* out, int* count, int* tile_ws, int n, float threshold,
                   cudaStream_t stream) {
    int tiles = (n + TILE - 1) / TILE;
    cudaMemsetAsync(out, 0, sizeof(float) * (size_t)n, stream);
    tally<<<tiles, THREADS, 0, stream>>>(x, tile_ws, n, Above{threshold});
    offsets<<<1, 1024, 0, stream>>>(tile_ws, count, tiles);
    scatter<<<tiles, THREADS, 0, stream>>>(x, tile_ws, out, n, Above{threshold});
}
