#include "common.cuh"

static __global__ void quantize_q8_0(const float * __restrict__ x, block_q8_0 * __restrict__ y, const int kx) {
    const int ix = blockDim.x*blockIdx.x + threadIdx.x;

    if (ix >= kx) {
        return;
    }

    const int ib  = ix / QK8_0; // block index
    const int iqs = ix % QK8_0; // quant index

    const float xi = x[ix];
    const float amax = warp_reduce_max(fabsf(xi));

    const float  d = amax / 127;
    const int8_t q = amax == 0.0f ? 0 : roundf(xi / d);

    y[ib].qs[iqs] = q;

    if (iqs > 0) {
        return;
    }

    y[ib].d = __float2half(d);
}

// vy holds k/32 blocks of 34 bytes
void ggt_quantize_row_q8_0(const float * x, void * vy, const int k) {
    GGT_ASSERT(k % QK8_0 == 0);
    const int block_num_x = (k + CUDA_QUANTIZE_BLOCK_SIZE - 1) / CUDA_QUANTIZE_BLOCK_SIZE;
    quantize_q8_0<<<block_num_x, CUDA_QUANTIZE_BLOCK_SIZE>>>(x, (block_q8_0 *) vy, k);
}

// the same with the scales in an array of their own
static __global__ void dequantize_mul_mat_vec_q8(const int8_t * __restrict__ qs, const half * __restrict__ d,
        const float * __restrict__ y, float * __restrict__ dst, const int ncols, const int nrows) {
    const int row = blockIdx.x*blockDim.y + threadIdx.y;

    if (row >= nrows) {
        return;
    }

    const int nb = ncols / QK8_0;
    float tmp = 0.0f;

    for (int ib = 0; ib < nb; ++ib) {
        const float di = __half2float(d[row*nb + ib]);
        const int   q  = qs[row*ncols + ib*QK8_0 + threadIdx.x];
        tmp += di * q * y[ib*QK8_0 + threadIdx.x];
    }

    tmp = warp_reduce_sum(tmp);

    if (threadIdx.x == 0) {
        dst[row] = tmp;
    }
}

void ggt_mul_mat_vec_q8(const int8_t * qs, const half * d, const float * y, float * dst, const int ncols, const int nrows) {
    GGT_ASSERT(ncols % QK8_0 == 0);
    const dim3 block_dims(WARP_SIZE, 2, 1);
    dequantize_mul_mat_vec_q8<<<(nrows + 1)/2, block_dims>>>(qs, d, y, dst, ncols, nrows);
}
