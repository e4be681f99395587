// torch.argmin(x, dim=1) of a (B, D, M) tensor in two passes: blocks reduce chunks of the axis, a second kernel
// combines the chunks. Equal values: the lowest index wins. NaN never wins.
#include <climits>
#include <cmath>
#include <cstdint>

struct ValIdx {
    float v;
    int i;
};

struct Lower {
    __device__ static void apply(ValIdx& best, float v, int i) {
        if (v < best.v || (v == best.v && i < best.i)) {
            best.v = v;
            best.i = i;
        }
    }
};

constexpr int COLS = 32;
constexpr int LANES = 8;

template <typename Op>
__global__ void arg_reduce_chunks(const float* __restrict__ x, float* __restrict__ pval, int* __restrict__ pidx, int B,
                                  int D, int M, int chunk) {
    __shared__ float sv[LANES][COLS];
    __shared__ int si[LANES][COLS];

    const int m = blockIdx.x * COLS + threadIdx.x;
    const int b = blockIdx.y;
    const int lo = blockIdx.z * chunk;
    const int hi = min(lo + chunk, D);

    ValIdx best{INFINITY, INT_MAX};
    if (m < M)
        for (int d = lo + threadIdx.y; d < hi; d += LANES) Op::apply(best, x[((size_t)b * D + d) * M + m], d);
    sv[threadIdx.y][threadIdx.x] = best.v;
    si[threadIdx.y][threadIdx.x] = best.i;
    __syncthreads();

    for (int half = LANES / 2; half > 0; half >>= 1) {
        if (threadIdx.y < half) {
            ValIdx mine{sv[threadIdx.y][threadIdx.x], si[threadIdx.y][threadIdx.x]};
            Op::apply(mine, sv[threadIdx.y + half][threadIdx.x], si[threadIdx.y + half][threadIdx.x]);
            sv[threadIdx.y][threadIdx.x] = mine.v;
            si[threadIdx.y][threadIdx.x] = mine.i;
        }
        __syncthreads();
    }

    if (threadIdx.y == 0 && m < M) {
        const size_t at = ((size_t)blockIdx.z * B + b) * M + m;
        pval[at] = sv[0][threadIdx.x];
        pidx[at] = si[0][threadIdx.x];
    }
}

template <typename Op>
__global__ void arg_reduce_finish(const float* __restrict__ pval, const int* __restrict__ pidx,
                                  int64_t* __restrict__ index, int columns, int splits) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= columns) return;
    ValIdx best{INFINITY, INT_MAX};
    for (int s = 0; s < splits; ++s) Op::apply(best, pval[(size_t)s * columns + t], pidx[(size_t)s * columns + t]);
    index[t] = best.i == INT_MAX ? 0 : best.i;
}

void argmin_dim1(const float* x, int64_t* index, float* pval, int* pidx, int B, int D, int M, int splits) {
    const int chunk = (D + splits - 1) / splits;
    arg_reduce_chunks<Lower><<<dim3((M + COLS - 1) / COLS, B, splits), dim3(COLS, LANES)>>>(x, pval, pidx, B, D, M, chunk);
    arg_reduce_finish<Lower><<<(B * M + 127) / 128, 128>>>(pval, pidx, index, B * M, splits);
}
