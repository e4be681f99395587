// Inclusive prefix sum of 32-bit counts into 64-bit positions: scan of blocks, scan of the block sums, add.
#include <cuda_runtime.h>

#define SCAN_BLOCK 512

#define TRY(call)                            \
    do {                                     \
        cudaError_t e_ = (call);             \
        if (e_ != cudaSuccess) return e_;    \
    } while (0)

__global__ void scan_blocks(const int* in, long long* out, long long* block_sums, int n)
{
    __shared__ long long buf[2][SCAN_BLOCK];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * SCAN_BLOCK + tid;

    int cur = 0;
    buf[cur][tid] = i < n ? (long long)in[i] : 0;
    __syncthreads();
    for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
        long long v = buf[cur][tid];
        if (tid >= d) v += buf[cur][tid - d];
        buf[1 - cur][tid] = v;
        cur = 1 - cur;
        __syncthreads();
    }
    if (i < n) out[i] = buf[cur][tid];
    if (tid == SCAN_BLOCK - 1) block_sums[blockIdx.x] = buf[cur][tid];
}

// one block, piece by piece; afterwards block_sums[b] is the sum of the blocks up to b
__global__ void scan_sums(long long* block_sums, int blocks)
{
    __shared__ long long buf[SCAN_BLOCK];
    __shared__ long long carry;
    const int tid = threadIdx.x;
    if (tid == 0) carry = 0;
    __syncthreads();

    for (int start = 0; start < blocks; start += SCAN_BLOCK) {
        const int i = start + tid;
        buf[tid] = i < blocks ? block_sums[i] : 0;
        __syncthreads();
        for (int d = 1; d < SCAN_BLOCK; d <<= 1) {
            long long v = tid >= d ? buf[tid - d] : 0;
            __syncthreads();
            buf[tid] += v;
            __syncthreads();
        }
        if (i < blocks) block_sums[i] = buf[tid] + carry;
        __syncthreads();
        if (tid == SCAN_BLOCK - 1) carry += buf[tid];
        __syncthreads();
    }
}

__global__ void add_sums(long long* out, const long long* block_sums, int n)
{
    if (blockIdx.x == 0) return;
    const int i = blockIdx.x * SCAN_BLOCK + threadIdx.x;
    if (i < n) out[i] += block_sums[blockIdx.x - 1];
}

cudaError_t inclusive_scan_counts(const int* in, long long* out, long long* block_sums, int n, cudaStream_t stream)
{
    if (n <= 0) return cudaSuccess;
    const int blocks = (n - 1) / SCAN_BLOCK + 1;
    scan_blocks<<<blocks, SCAN_BLOCK, 0, stream>>>(in, out, block_sums, n);
    TRY(cudaGetLastError());
    scan_sums<<<1, SCAN_BLOCK, 0, stream>>>(block_sums, blocks);
    TRY(cudaGetLastError());
    add_sums<<<blocks, SCAN_BLOCK, 0, stream>>>(out, block_sums, n);
    TRY(cudaGetLastError());
    return cudaSuccess;
}
