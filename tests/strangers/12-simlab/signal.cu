#include <cuda_runtime.h>

typedef float2 cplx;

__device__ cplx cmul(cplx a, cplx b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// pointwise product with scaling, as between two FFTs
__global__ void ComplexPointwiseMulAndScale(cplx *a, const cplx *b, int size, float scale)
{
    const int numThreads = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += numThreads) {
        cplx c = cmul(a[i], b[i]);
        a[i] = make_float2(scale * c.x, scale * c.y);
    }
}

void complex_mul(cplx *a, const cplx *b, int size, float scale)
{
    ComplexPointwiseMulAndScale<<<32, 256>>>(a, b, size, scale);
}

// rank-1 update A += alpha x y^T
__global__ void sger(float *A, const float *x, const float *y, float alpha, int m, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j < n) A[(size_t)i * n + j] += alpha * x[i] * y[j];
}

void outer_product(float *A, const float *x, const float *y, float alpha, int m, int n)
{
    sger<<<dim3((n + 127) / 128, m), 128>>>(A, x, y, alpha, m, n);
}

// causal attention in one kernel, a block of 64 threads per query; head dimension fixed. Scores in shared memory.
#define HEAD 32
__global__ void fused_attention(const float *q, const float *k, const float *v, float *o, int T)
{
    extern __shared__ float score[];
    __shared__ float red[64];
    const int t = blockIdx.x, tid = threadIdx.x;
    const size_t base = (size_t)blockIdx.y * T * HEAD;
    const float *qt = q + base + (size_t)t * HEAD;
    float m = -1e30f;
    for (int s = tid; s <= t; s += 64) {
        float d = 0.f;
#pragma unroll
        for (int h = 0; h < HEAD; h++) d += qt[h] * k[base + (size_t)s * HEAD + h];
        d *= 0.17677669529663687f;
        score[s] = d;
        m = fmaxf(m, d);
    }
    red[tid] = m;
    __syncthreads();
    for (int x = 32; x > 0; x >>= 1) {
        if (tid < x) red[tid] = fmaxf(red[tid], red[tid + x]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float sum = 0.f;
    for (int s = tid; s <= t; s += 64) {
        score[s] = __expf(score[s] - m);
        sum += score[s];
    }
    red[tid] = sum;
    __syncthreads();
    for (int x = 32; x > 0; x >>= 1) {
        if (tid < x) red[tid] += red[tid + x];
        __syncthreads();
    }
    sum = red[0];
    if (tid < HEAD) {
        float acc = 0.f;
        for (int s = 0; s <= t; s++) acc += score[s] * v[base + (size_t)s * HEAD + tid];
        o[base + (size_t)t * HEAD + tid] = acc / sum;
    }
}

void attention_fused_causal(const float *q, const float *k, const float *v, float *o, int BH, int T)
{
    fused_attention<<<dim3(T, BH), 64, T * sizeof(float)>>>(q, k, v, o, T);
}
