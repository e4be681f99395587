// Sums over ragged segments, and a sparse times dense product in ELLPACK format.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

// ---- segments -----------------------------------------------------------------------------------

// Offsets from lengths, by one block: every thread sums a contiguous piece, the pieces are scanned in shared memory.
__global__ void lengths_to_offsets(const int* lengths, int* offsets, int n)
{
    __shared__ int sums[1024];
    const int tid = threadIdx.x;
    const int piece = (n + blockDim.x - 1) / blockDim.x;
    const int begin = min(tid * piece, n);
    const int end = min(begin + piece, n);

    int s = 0;
    for (int i = begin; i < end; i++) s += lengths[i];
    sums[tid] = s;
    __syncthreads();

    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = tid >= d ? sums[tid - d] : 0;
        __syncthreads();
        sums[tid] += v;
        __syncthreads();
    }

    int run = tid > 0 ? sums[tid - 1] : 0;
    for (int i = begin; i < end; i++) {
        offsets[i] = run;
        run += lengths[i];
    }
    if (tid == blockDim.x - 1) offsets[n] = sums[tid];
}

__global__ void segment_sum_rows(const __nv_bfloat16* values, const int* offsets, float* out, int dim)
{
    const int seg = blockIdx.x;
    const int begin = offsets[seg];
    const int end = offsets[seg + 1];
    for (int c = threadIdx.x; c < dim; c += blockDim.x) {
        float acc = 0.f;
        for (int r = begin; r < end; r++) acc += __bfloat162float(values[(size_t)r * dim + c]);
        out[(size_t)seg * dim + c] = acc;
    }
}

// values holds the rows of all segments one after another; offsets (segments + 1) is a workspace
int segment_sum_bf16(const __nv_bfloat16* values, const int* lengths, float* out, int* offsets, int segments,
                     int max_len, int dim, cudaStream_t stream)
{
    if ((long long)segments * max_len > 0x7fffffffLL) return 1;
    lengths_to_offsets<<<1, 1024, 0, stream>>>(lengths, offsets, segments);
    segment_sum_rows<<<segments, 128, 0, stream>>>(values, offsets, out, dim);
    return cudaGetLastError() != cudaSuccess;
}

// ---- sparse times dense ---------------------------------------------------------------------------

// vals and cols are width x rows (slot by slot), row_len says how many slots of a row are in use
__global__ void spmm_ell_kernel(const float* __restrict__ vals, const int* __restrict__ cols,
                                const int* __restrict__ row_len, const float* __restrict__ dense,
                                float* __restrict__ out, int rows, int n)
{
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows || j >= n) return;

    const int len = row_len[row];
    float acc = 0.f;
    for (int s = 0; s < len; s++) {
        const size_t at = (size_t)s * rows + row;
        acc += vals[at] * dense[(size_t)cols[at] * n + j];
    }
    out[(size_t)row * n + j] = acc;
}

void spmm_ell(const float* vals, const int* cols, const int* row_len, const float* dense, float* out, int rows,
              int width, int k, int n, cudaStream_t stream)
{
    (void)width;
    (void)k;
    dim3 block(32, 8);
    dim3 grid((rows + 7) / 8, (n + 31) / 32);
    spmm_ell_kernel<<<grid, block, 0, stream>>>(vals, cols, row_len, dense, out, rows, n);
}
