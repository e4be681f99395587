#include "common.cuh"

// y = x / sqrt(mean(x^2) + eps) * w, one row of ncols values per row

static __global__ void k_rms_norm_ref(const float * x, const float * w, float * dst, const int ncols, const int nrows, const float eps) {
    const int row = blockIdx.x*blockDim.x + threadIdx.x;

    if (row >= nrows) {
        return;
    }

    float tmp = 0.0f;
    for (int col = 0; col < ncols; ++col) {
        const float xi = x[row*ncols + col];
        tmp += xi * xi;
    }

    const float mean  = tmp / ncols;
    const float scale = 1.0f/sqrtf(mean + eps);

    for (int col = 0; col < ncols; ++col) {
        dst[row*ncols + col] = scale * x[row*ncols + col] * w[col];
    }
}

template <int block_size>
static __global__ void rms_norm_f32(const float * x, const float * w, float * dst, const int ncols, const float eps) {
    const int row = blockIdx.x;
    const int tid = threadIdx.x;

    x   += (int64_t) row*ncols;
    dst += (int64_t) row*ncols;

    float tmp = 0.0f; // partial sum for thread in warp

    for (int col = tid; col < ncols; col += block_size) {
        const float xi = x[col];
        tmp += xi * xi;
    }

    // sum up partial sums
    tmp = warp_reduce_sum(tmp);
    if constexpr (block_size > WARP_SIZE) {
        __shared__ float s_sum[32];
        const int warp_id = threadIdx.x / WARP_SIZE;
        const int lane_id = threadIdx.x % WARP_SIZE;
        if (lane_id == 0) {
            s_sum[warp_id] = tmp;
        }
        __syncthreads();
        tmp = lane_id < block_size/WARP_SIZE ? s_sum[lane_id] : 0.0f;
        tmp = warp_reduce_sum(tmp);
    }

    const float mean  = tmp / ncols;
    const float scale = rsqrtf(mean + eps);

    for (int col = tid; col < ncols; col += block_size) {
        dst[col] = scale * x[col] * w[col];
    }
}

// keeps the row in registers: up to 4*per_thread values per thread, ncols % 4 == 0
template <int per_thread>
static __global__ void __launch_bounds__(256) rms_norm_f32_vec4(const float4 * __restrict__ x, const float4 * __restrict__ w,
        float4 * __restrict__ dst, const int ncols4, const float eps) {
    const int row = blockIdx.x;
    const int tid = threadIdx.x;

    x   += (int64_t) row*ncols4;
    dst += (int64_t) row*ncols4;

    float4 v[per_thread];
    float tmp = 0.0f;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
        const int col = tid + i*256;
        v[i] = col < ncols4 ? x[col] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        tmp += v[i].x*v[i].x + v[i].y*v[i].y + v[i].z*v[i].z + v[i].w*v[i].w;
    }

    tmp = warp_reduce_sum(tmp);
    __shared__ float s_sum[8];
    if (tid % WARP_SIZE == 0) {
        s_sum[tid / WARP_SIZE] = tmp;
    }
    __syncthreads();
    tmp = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        tmp += s_sum[i];
    }

    const float scale = rsqrtf(tmp / (4*ncols4) + eps);
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
        const int col = tid + i*256;
        if (col < ncols4) {
            const float4 wi = __ldg(w + col);
            dst[col] = make_float4(scale*v[i].x*wi.x, scale*v[i].y*wi.y, scale*v[i].z*wi.z, scale*v[i].w*wi.w);
        }
    }
}

void rmsnorm_naive(const float * x, const float * w, float * dst, const int ncols, const int nrows, const float eps) {
    GGT_ASSERT(ncols % 4 == 0);
    k_rms_norm_ref<<<(nrows + 63)/64, 64>>>(x, w, dst, ncols, nrows, eps);
}

void rmsnorm_tiled(const float * x, const float * w, float * dst, const int ncols, const int nrows, const float eps) {
    GGT_ASSERT(ncols % 4 == 0);
    if (ncols < 1024) {
        rms_norm_f32<WARP_SIZE><<<nrows, WARP_SIZE>>>(x, w, dst, ncols, eps);
    } else {
        rms_norm_f32<1024><<<nrows, 1024>>>(x, w, dst, ncols, eps);
    }
}

void rmsnorm_fast(const float * x, const float * w, float * dst, const int ncols, const int nrows, const float eps) {
    GGT_ASSERT(ncols % 4 == 0);
    if (ncols > 8192) {
        rmsnorm_tiled(x, w, dst, ncols, nrows, eps);
        return;
    }
    const float4 * x4 = (const float4 *) x;
    const float4 * w4 = (const float4 *) w;
    if (ncols <= 1024) {
        rms_norm_f32_vec4<1><<<nrows, 256>>>(x4, w4, (float4 *) dst, ncols/4, eps);
    } else {
        rms_norm_f32_vec4<8><<<nrows, 256>>>(x4, w4, (float4 *) dst, ncols/4, eps);
    }
}
