#include "common.cuh"

/* res += x; out = rmsnorm(res) * w. One block for each token. */
__global__ void k_add_rmsnorm(__half* __restrict__ out, __half* __restrict__ res, const __half* __restrict__ x,
                              const __half* __restrict__ w, int dim, float eps) {
    __shared__ float s_part[8];
    const size_t base = (size_t)blockIdx.x * dim;
    float ss = 0.f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        const __half r = __float2half(__half2float(res[base + i]) + __half2float(x[base + i]));
        res[base + i] = r;
        const float f = __half2float(r);
        ss += f * f;
    }
    ss = warp_sum(ss);
    if (threadIdx.x % WARP == 0) s_part[threadIdx.x / WARP] = ss;
    __syncthreads();
    ss = 0.f;
    for (int i = 0; i < blockDim.x / WARP; i++) ss += s_part[i];
    const float inv = rsqrtf(ss / dim + eps);
    for (int i = threadIdx.x; i < dim; i += blockDim.x)
        out[base + i] = __float2half(__half2float(res[base + i]) * inv * __half2float(w[i]));
}

extern "C" void tl_add_rmsnorm(__half* out, __half* res, const __half* x, const __half* w, int n_tok, int dim, float eps,
                               cudaStream_t st) {
    k_add_rmsnorm<<<n_tok, 256, 0, st>>>(out, res, x, w, dim, eps);
}
