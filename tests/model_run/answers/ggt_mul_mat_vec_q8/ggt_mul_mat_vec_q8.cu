void ggt_mul_mat_vec_q8(const int8_t * qs, const half * d, const float * y, float * dst, const int ncols, const int nrows) {
    GGT_ASSERT(ncols % QK8_0 == 0);
    if (ncols >= 512 && ((size_t) qs | (size_t) y) % 16 == 0) {
        const dim3 block_dims(WARP_SIZE, 4, 1);
        dequantize_mul_mat_vec_q8_x16<<<(nrows + 3)/4, block_dims>>>(qs, d, y, dst, ncols, nrows);
        return;
    }
    const dim3 block_dims(WARP_SIZE, 2, 1);
    dequantize_mul_mat_vec_q8<<<(nrows + 1)/2, block_dims>>>(qs, d, y, dst, ncols, nrows);
}
