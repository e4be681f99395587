// Exclusive cumulative sum along the last dimension, a block per row.
#include <cuda_runtime.h>

template <int THREADS, int ITEMS>
struct BlockScan {
    static constexpr int WARPS = THREADS / 32;
    static_assert(THREADS % 32 == 0 && WARPS <= 32, "bad block");

    struct Storage {
        float warp_total[WARPS];
        float block_total;
    };

    Storage& s;
    __device__ explicit BlockScan(Storage& storage) : s(storage) {}

    // items become exclusive prefix sums inside the tile; returns the total of the tile
    __device__ float exclusive(float (&items)[ITEMS]) {
        const int lane = threadIdx.x % 32;
        const int warp = threadIdx.x / 32;

        float local = 0.f;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const float v = items[i];
            items[i] = local;
            local += v;
        }

        float incl = local;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float o = __shfl_up_sync(0xffffffffu, incl, d);
            if (lane >= d) incl += o;
        }
        if (lane == 31) s.warp_total[warp] = incl;
        __syncthreads();

        if (warp == 0) {
            const float t = lane < WARPS ? s.warp_total[lane] : 0.f;
            float run = t;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const float o = __shfl_up_sync(0xffffffffu, run, d);
                if (lane >= d) run += o;
            }
            if (lane == 31) s.block_total = run;
            const float prev = __shfl_up_sync(0xffffffffu, run, 1);
            if (lane < WARPS) s.warp_total[lane] = lane == 0 ? 0.f : prev;
        }
        __syncthreads();

        float before = __shfl_up_sync(0xffffffffu, incl, 1);
        if (lane == 0) before = 0.f;
        before += s.warp_total[warp];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) items[i] += before;
        const float total = s.block_total;
        __syncthreads();
        return total;
    }
};

template <int THREADS, int ITEMS>
__global__ __launch_bounds__(THREADS) void exclusive_cumsum_kernel(const float* __restrict__ in, float* __restrict__ out, int len) {
    using Scan = BlockScan<THREADS, ITEMS>;
    __shared__ typename Scan::Storage storage;

    const float* src = in + (size_t)blockIdx.x * len;
    float* dst = out + (size_t)blockIdx.x * len;
    float carry = 0.f;

    for (int base = 0; base < len; base += THREADS * ITEMS) {
        const int first = base + threadIdx.x * ITEMS;
        float v[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) v[i] = first + i < len ? src[first + i] : 0.f;
        const float total = Scan(storage).exclusive(v);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i)
            if (first + i < len) dst[first + i] = carry + v[i];
        carry += total;
    }
}

void exclusive_cumsum(const float* in, float* out, int rows, int len, cudaStream_t stream = 0) {
    exclusive_cumsum_kernel<256, 4><<<rows, 256, 0, stream>>>(in, out, len);
}
