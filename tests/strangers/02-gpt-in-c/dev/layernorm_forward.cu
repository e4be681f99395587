// Layernorm forward: three versions, from simple to fast
#include "common.h"

// version 1: parallelizes over B,T, loops over C
__global__ void layernorm_forward_kernel1(float* out, float* mean, float* rstd,
                                 const float* inp, const float* weight, const float* bias,
                                 int N, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    float eps = 1e-5f;

    if (idx < N) {
        const float* x = inp + idx * C;
        // calculate the mean
        float m = 0.0f;
        for (int i = 0; i < C; i++) {
            m += x[i];
        }
        m = m / C;
        // calculate the variance (without any bias correction)
        float v = 0.0f;
        for (int i = 0; i < C; i++) {
            float xshift = x[i] - m;
            v += xshift * xshift;
        }
        v = v / C;
        float s = 1.0f / sqrtf(v + eps);
        float* out_idx = out + idx * C;
        for (int i = 0; i < C; i++) {
            float n = (s * (x[i] - m)); // normalized output
            float o = n * weight[i] + bias[i]; // scale and shift it
            out_idx[i] = o;
        }
        // cache the mean and rstd for the backward pass later
        mean[idx] = m;
        rstd[idx] = s;
    }
}

// version 2: one block per row, reductions in shared memory
__global__ void layernorm_forward_kernel2(float* out, float* mean, float* rstd,
                                 const float* inp, const float* weight, const float* bias,
                                 int N, int C, int block_size) {
    extern __shared__ float shared[];
    int idx = blockIdx.x; // range [0, N)
    int tid = threadIdx.x; // range [0, block_size)
    const float* x = inp + idx * C;
    float sum = 0.0f;
    for (int i = tid; i < C; i += block_size) {
        sum += x[i];
    }
    shared[tid] = sum;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads();
    }
    float m = shared[0] / C;
    __syncthreads();
    sum = 0.0f;
    for (int i = tid; i < C; i += block_size) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    shared[tid] = sum;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
        __syncthreads();
    }
    float s = 1.0f / sqrtf(shared[0] / C + 1e-5f);
    for (int i = tid; i < C; i += block_size) {
        out[idx * C + i] = s * (x[i] - m) * weight[i] + bias[i];
    }
    if (tid == 0) {
        mean[idx] = m;
        rstd[idx] = s;
    }
}

// version 3: one warp per row, float4 where the row allows it
__global__ void layernorm_forward_kernel3(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd,
                                    const float*  __restrict__ inp, const float*  __restrict__ weight,
                                    const float* __restrict__ bias, int N, int C) {
    int lane = threadIdx.x % WARP_SIZE;
    int idx = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    if (idx >= N) { return; }

    const float* x = inp + (size_t)idx * C;
    float* o = out + (size_t)idx * C;
    bool vec = C % 4 == 0;
    int C4 = C / 4;

    float sum = 0.0f;
    if (vec) {
        const float4* x4 = reinterpret_cast<const float4*>(x);
        for (int i = lane; i < C4; i += WARP_SIZE) {
            float4 t = x4[i];
            sum += (t.x + t.y) + (t.z + t.w);
        }
    } else {
        for (int i = lane; i < C; i += WARP_SIZE) { sum += x[i]; }
    }
    float m = warpReduceSum(sum) / C;

    sum = 0.0f;
    if (vec) {
        const float4* x4 = reinterpret_cast<const float4*>(x);
        for (int i = lane; i < C4; i += WARP_SIZE) {
            float4 t = x4[i];
            float a = t.x - m, b = t.y - m, c = t.z - m, d = t.w - m;
            sum += (a * a + b * b) + (c * c + d * d);
        }
    } else {
        for (int i = lane; i < C; i += WARP_SIZE) {
            float diff = x[i] - m;
            sum += diff * diff;
        }
    }
    float s = rsqrtf(warpReduceSum(sum) / C + 1e-5f);
    if (lane == 0) {
        mean[idx] = m;
        rstd[idx] = s;
    }
    if (vec) {
        const float4* x4 = reinterpret_cast<const float4*>(x);
        const float4* w4 = reinterpret_cast<const float4*>(weight);
        const float4* b4 = reinterpret_cast<const float4*>(bias);
        for (int i = lane; i < C4; i += WARP_SIZE) {
            float4 t = x4[i], w = w4[i], b = b4[i], r;
            r.x = s * (t.x - m) * w.x + b.x;
            r.y = s * (t.y - m) * w.y + b.y;
            r.z = s * (t.z - m) * w.z + b.z;
            r.w = s * (t.w - m) * w.w + b.w;
            reinterpret_cast<float4*>(o)[i] = r;
        }
    } else {
        for (int i = lane; i < C; i += WARP_SIZE) {
            o[i] = s * (x[i] - m) * weight[i] + bias[i];
        }
    }
}

// ----------------------------------------------------------------------------
// kernel launchers

void layernorm_naive(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias,
                     int N, int C) {
    const int block_size = 128;
    const int grid_size = ceil_div(N, block_size);
    layernorm_forward_kernel1<<<grid_size, block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
    cudaCheck(cudaGetLastError());
}

void layernorm_tiled(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias,
                     int N, int C) {
    const int block_size = 128;
    layernorm_forward_kernel2<<<N, block_size, block_size * sizeof(float)>>>(out, mean, rstd, inp, weight, bias, N, C,
                                                                             block_size);
    cudaCheck(cudaGetLastError());
}

void layernorm_fast(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias,
                    int N, int C) {
    const int block_size = 256;
    const int grid_size = ceil_div(N * 32, block_size);
    layernorm_forward_kernel3<<<grid_size, block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
    cudaCheck(cudaGetLastError());
}
