// Cross-entropy with label smoothing over half logits; tokens whose target is pad_id do not count.
//   loss = mean over tokens of (1 - s) * (lse - x[target]) + s * (lse - mean(x))
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

struct MaxSum {
    float m, s;
};

__device__ __forceinline__ MaxSum merge(MaxSum a, MaxSum b)
{
    const MaxSum hi = a.m >= b.m ? a : b;
    const MaxSum lo = a.m >= b.m ? b : a;
    return {hi.m, hi.s + lo.s * __expf(lo.m - hi.m)};
}

template <int THREADS>
__global__ void smoothed_ce_rows(const __half* __restrict__ logits, const int* __restrict__ target,
                                 float* __restrict__ row_loss, int vocab, float smoothing, int pad_id)
{
    __shared__ MaxSum part[THREADS / 32];
    __shared__ float part_sum[THREADS / 32];

    const int row = blockIdx.x;
    const int tgt = target[row];
    if (tgt == pad_id) {                 // the same for the whole block
        if (threadIdx.x == 0) row_loss[row] = 0.f;
        return;
    }
    const __half* x = logits + (size_t)row * vocab;

    MaxSum ms = {-1e30f, 0.f};
    float total = 0.f;
    for (int i = threadIdx.x; i < vocab; i += THREADS) {
        const float v = __half2float(x[i]);
        total += v;
        if (v > ms.m) {
            ms.s = ms.s * __expf(ms.m - v) + 1.f;
            ms.m = v;
        } else {
            ms.s += __expf(v - ms.m);
        }
    }
    for (int o = 16; o > 0; o >>= 1) {
        MaxSum other;
        other.m = __shfl_xor_sync(0xffffffffu, ms.m, o);
        other.s = __shfl_xor_sync(0xffffffffu, ms.s, o);
        ms = merge(ms, other);
        total += __shfl_xor_sync(0xffffffffu, total, o);
    }
    if ((threadIdx.x & 31) == 0) {
        part[threadIdx.x >> 5] = ms;
        part_sum[threadIdx.x >> 5] = total;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; ++w) {
            ms = merge(ms, part[w]);
            total += part_sum[w];
        }
        const float lse = ms.m + logf(ms.s);
        const float nll = lse - __half2float(x[tgt]);
        const float uniform = lse - total / vocab;
        row_loss[row] = (1.f - smoothing) * nll + smoothing * uniform;
    }
}

__global__ void mean_of_rows(const float* __restrict__ row_loss, const int* __restrict__ target,
                             float* __restrict__ loss, int rows, int pad_id)
{
    __shared__ float s_sum[256];
    __shared__ int s_cnt[256];
    float sum = 0.f;
    int cnt = 0;
    for (int i = threadIdx.x; i < rows; i += 256) {
        sum += row_loss[i];
        cnt += target[i] != pad_id;
    }
    s_sum[threadIdx.x] = sum;
    s_cnt[threadIdx.x] = cnt;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) {
            s_sum[threadIdx.x] += s_sum[threadIdx.x + k];
            s_cnt[threadIdx.x] += s_cnt[threadIdx.x + k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) loss[0] = s_sum[0] / max(s_cnt[0], 1);
}

// targets must be in [0, vocab) or pad_id
extern "C" void label_smoothing_ce(const __half* logits, const int* target, float* row_loss, float* loss, int rows,
                                   int vocab, float smoothing, int pad_id, cudaStream_t stream)
{
    if (rows <= 0 || vocab <= 0) return;
    smoothed_ce_rows<256><<<rows, 256, 0, stream>>>(logits, target, row_loss, vocab, smoothing, pad_id);
    mean_of_rows<<<1, 256, 0, stream>>>(row_loss, target, loss, rows, pad_id);
}
