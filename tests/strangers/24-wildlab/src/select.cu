// The k largest of each row, largest first; of equal ones the one with the lower index first.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <limits.h>

#define TOPK_THREADS 256
#define NOTHING INT_MAX

__device__ __forceinline__ bool beats(float v, int i, float than, int than_i)
{
    if (i == NOTHING) return false;
    if (than_i == NOTHING) return true;
    return v > than || (v == than && i < than_i);
}

__global__ void topk_rows_kernel(const __nv_bfloat16* __restrict__ scores, __nv_bfloat16* __restrict__ top,
                                 int* __restrict__ top_idx, int cols, int k)
{
    extern __shared__ float row[];                                     // cols floats, then cols flags
    unsigned char* taken = (unsigned char*)(row + cols);
    __shared__ float red_v[TOPK_THREADS];
    __shared__ int red_i[TOPK_THREADS];

    const int tid = threadIdx.x;
    const __nv_bfloat16* src = scores + (size_t)blockIdx.x * cols;
    for (int c = tid; c < cols; c += TOPK_THREADS) {
        row[c] = __bfloat162float(src[c]);
        taken[c] = 0;
    }
    __syncthreads();

    for (int t = 0; t < k; t++) {
        float v = 0.f;
        int at = NOTHING;
        for (int c = tid; c < cols; c += TOPK_THREADS) {
            if (!taken[c] && beats(row[c], c, v, at)) {
                v = row[c];
                at = c;
            }
        }
        red_v[tid] = v;
        red_i[tid] = at;
        __syncthreads();
        for (int half = TOPK_THREADS / 2; half > 0; half >>= 1) {
            if (tid < half && beats(red_v[tid + half], red_i[tid + half], red_v[tid], red_i[tid])) {
                red_v[tid] = red_v[tid + half];
                red_i[tid] = red_i[tid + half];
            }
            __syncthreads();
        }
        if (tid == 0) {
            top[(size_t)blockIdx.x * k + t] = src[red_i[0]];
            top_idx[(size_t)blockIdx.x * k + t] = red_i[0];
            taken[red_i[0]] = 1;
        }
        __syncthreads();
    }
}

cudaError_t topk_rows_bf16(const __nv_bfloat16* scores, __nv_bfloat16* top, int* top_idx, int rows, int cols, int k,
                           cudaStream_t stream)
{
    if (k < 1 || k > cols || cols > 9000) return cudaErrorInvalidValue;
    const size_t shared = (size_t)cols * (sizeof(float) + 1);
    topk_rows_kernel<<<rows, TOPK_THREADS, shared, stream>>>(scores, top, top_idx, cols, k);
    return cudaGetLastError();
}
