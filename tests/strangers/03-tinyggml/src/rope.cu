#include "common.cuh"

// rotates pairs (i0, i0 + 1): "norm" mode
static __global__ void rope_norm(const float * x, float * dst, const int ncols, const int nheads, const int * pos, const float theta_scale) {
    const int col = 2*(blockDim.y*blockIdx.y + threadIdx.y);

    if (col >= ncols) {
        return;
    }

    const int row = blockDim.x*blockIdx.x + threadIdx.x;
    const int i   = row*ncols + col;
    const int i2  = row/nheads;

    const float theta = pos[i2]*powf(theta_scale, col/2);
    const float cos_theta = cosf(theta);
    const float sin_theta = sinf(theta);

    const float x0 = x[i + 0];
    const float x1 = x[i + 1];

    dst[i + 0] = x0*cos_theta - x1*sin_theta;
    dst[i + 1] = x0*sin_theta + x1*cos_theta;
}

// x is [ntok][nheads][ncols]
void ggt_rope(const float * x, float * dst, const int * pos, const int ncols, const int nheads, const int ntok, const float freq_base) {
    GGT_ASSERT(ncols % 2 == 0);
    const float theta_scale = powf(freq_base, -2.0f/ncols);
    const dim3 block_dims(1, CUDA_ROPE_BLOCK_SIZE, 1);
    const int num_blocks_x = (ncols + 2*CUDA_ROPE_BLOCK_SIZE - 1) / (2*CUDA_ROPE_BLOCK_SIZE);
    const dim3 block_nums(nheads*ntok, num_blocks_x, 1);
    rope_norm<<<block_nums, block_dims>>>(x, dst, ncols, nheads, pos, theta_scale);
}

// ------------------------------------------------------------------------------------------------

static __global__ void diag_mask_inf_f32(const float * x, float * dst, const int ncols, const int rows_per_channel, const int n_past) {
    const int col = blockDim.y*blockIdx.y + threadIdx.y;
    const int row = blockDim.x*blockIdx.x + threadIdx.x;

    if (col >= ncols) {
        return;
    }

    const int i = row*ncols + col;
    // dst[i] = col > n_past + row ? -INFINITY : x[i];
    dst[i] = x[i] - (col > n_past + row % rows_per_channel) * 3.402823466e+38F;
}

void ggt_diag_mask_inf(const float * x, float * dst, const int ncols_x, const int nrows_x, const int rows_per_channel, const int n_past) {
    const dim3 block_dims(1, CUDA_DIAG_MASK_INF_BLOCK_SIZE, 1);
    const int block_num_x = (ncols_x + CUDA_DIAG_MASK_INF_BLOCK_SIZE - 1) / CUDA_DIAG_MASK_INF_BLOCK_SIZE;
    const dim3 block_nums(nrows_x, block_num_x, 1);
    diag_mask_inf_f32<<<block_nums, block_dims>>>(x, dst, ncols_x, rows_per_channel, n_past);
}

// ------------------------------------------------------------------------------------------------

template<typename src_t>
static __global__ void k_get_rows(const src_t * src0, const int32_t * src1, float * dst, const int ne00, const int ne10) {
    const int i00 = blockIdx.x*blockDim.x + threadIdx.x;
    const int i10 = blockDim.y*blockIdx.y + threadIdx.y;

    if (i00 >= ne00 || i10 >= ne10) {
        return;
    }

    dst[(int64_t) i10*ne00 + i00] = src0[(int64_t) src1[i10]*ne00 + i00];
}

void ggt_get_rows_f16(const half * src0, const int32_t * src1, float * dst, const int ne00, const int ne01, const int ne10) {
    GGT_UNUSED(ne01);
    const dim3 block_dims(256, 1, 1);
    const dim3 block_nums((ne00 + 255)/256, ne10, 1);
    k_get_rows<<<block_nums, block_dims>>>(src0, src1, dst, ne00, ne10);
}
