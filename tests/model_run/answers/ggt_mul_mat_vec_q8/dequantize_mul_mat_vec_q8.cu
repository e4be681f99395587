// 16 quants a lane: two lanes for each block of QK8_0
static __global__ void dequantize_mul_mat_vec_q8_x16(const int8_t * __restrict__ qs, const half * __restrict__ d,
        const float * __restrict__ y, float * __restrict__ dst, const int ncols, const int nrows) {
    const int row = blockIdx.x*blockDim.y + threadIdx.y;

    if (row >= nrows) {
        return;
    }

    const int4  * q16 = (const int4 *) (qs + (int64_t) row*ncols);
    const half  * dr  = d + (int64_t) row*(ncols/QK8_0);
    float tmp = 0.0f;

#pragma unroll 2
    for (int i = threadIdx.x; i < ncols/16; i += WARP_SIZE) {
        const int4  q4 = q16[i];
        const float di = __half2float(dr[i/2]);
        const int words[4] = { q4.x, q4.y, q4.z, q4.w };
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 v = ((const float4 *) y)[4*i + k];
            tmp += di * (int8_t) (words[k])       * v.x;
            tmp += di * (int8_t) (words[k] >>  8) * v.y;
            tmp += di * (int8_t) (words[k] >> 16) * v.z;
            tmp += di * (int8_t) (words[k] >> 24) * v.w;
        }
    }

    tmp = warp_reduce_sum(tmp);

    if (threadIdx.x == 0) {
        dst[row] = tmp;
    }
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
