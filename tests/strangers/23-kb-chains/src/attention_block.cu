#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Causal self attention: QKV projection, scores, softmax, values, output projection (as in minGPT).
// x, out: [B, T, E]   w_qkv: [3E, E]   w_o: [E, E]   qkv: [B, T, 3E]   att: [B, NH, T, T]   ctx: [B, T, E]

struct AttnDims {
    int B, T, E, NH, HD;
};

template <int BS>
__global__ void project(const __half* __restrict__ in, const __half* __restrict__ w, const __half* __restrict__ bias,
                        __half* __restrict__ out, int rows, int in_dim, int out_dim)
{
    __shared__ __half a_tile[BS][BS + 2];
    __shared__ __half w_tile[BS][BS + 2];
    int r = blockIdx.y * BS + threadIdx.y;
    int c = blockIdx.x * BS + threadIdx.x;
    int wr = blockIdx.x * BS + threadIdx.y;

    float acc = 0.0f;
    for (int t = 0; t < in_dim; t += BS) {
        int k = t + threadIdx.x;
        a_tile[threadIdx.y][threadIdx.x] = (r < rows && k < in_dim) ? __ldg(&in[(size_t)r * in_dim + k]) : __float2half(0.0f);
        w_tile[threadIdx.y][threadIdx.x] = (wr < out_dim && k < in_dim) ? __ldg(&w[(size_t)wr * in_dim + k]) : __float2half(0.0f);
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < BS; ++i)
            acc += __half2float(a_tile[threadIdx.y][i]) * __half2float(w_tile[threadIdx.x][i]);
        __syncthreads();
    }
    if (r < rows && c < out_dim)
        out[(size_t)r * out_dim + c] = __float2half(acc + __half2float(__ldg(&bias[c])));
}

__global__ void attention_scores(const __half* __restrict__ qkv, float* __restrict__ att, const AttnDims d, float scale)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int head = blockIdx.z % d.NH;
    int b = blockIdx.z / d.NH;
    if (i >= d.T || j >= d.T)
        return;

    float dot = -INFINITY;
    if (j <= i) {
        const __half* q = qkv + ((size_t)b * d.T + i) * 3 * d.E + head * d.HD;
        const __half* k = qkv + ((size_t)b * d.T + j) * 3 * d.E + d.E + head * d.HD;
        dot = 0.0f;
        for (int e = 0; e < d.HD; ++e)
            dot += __half2float(__ldg(q + e)) * __half2float(__ldg(k + e));
        dot *= scale;
    }
    att[((size_t)blockIdx.z * d.T + i) * d.T + j] = dot;
}

__global__ void softmax_inplace(float* att, int T)
{
    __shared__ float part[32];
    float* row = att + (size_t)blockIdx.x * T;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;

    float m = -INFINITY;
    for (int j = threadIdx.x; j < T; j += blockDim.x)
        m = fmaxf(m, row[j]);
    for (int s = 16; s; s >>= 1)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, s));
    if (lane == 0)
        part[warp] = m;
    __syncthreads();
    m = part[0];
    for (int w = 1; w < warps; ++w)
        m = fmaxf(m, part[w]);
    __syncthreads();

    float sum = 0.0f;
    for (int j = threadIdx.x; j < T; j += blockDim.x) {
        float e = __expf(row[j] - m);
        row[j] = e;
        sum += e;
    }
    for (int s = 16; s; s >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < warps; ++w)
        sum += part[w];

    for (int j = threadIdx.x; j < T; j += blockDim.x)
        row[j] = row[j] / sum;
}

__global__ void attention_values(const float* __restrict__ att, const __half* __restrict__ qkv,
                                 __half* __restrict__ ctx, const AttnDims d)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    int b = blockIdx.z;
    if (e >= d.E)
        return;
    int head = e / d.HD;

    const float* p = att + (((size_t)b * d.NH + head) * d.T + i) * d.T;
    const __half* v = qkv + (size_t)b * d.T * 3 * d.E + 2 * d.E + e;
    float acc = 0.0f;
    for (int j = 0; j <= i; ++j)
        acc += __ldg(p + j) * __half2float(__ldg(v + (size_t)j * 3 * d.E));
    ctx[((size_t)b * d.T + i) * d.E + e] = __float2half(acc);
}

extern "C" cudaError_t attention_block(const __half* x, const __half* w_qkv, const __half* b_qkv,
                                       const __half* w_o, const __half* b_o,
                                       __half* qkv, float* att, __half* ctx, __half* out,
                                       int B, int T, int E, int NH, cudaStream_t stream)
{
    AttnDims d = {B, T, E, NH, E / NH};
    const int BS = 16;
    int rows = B * T;
    dim3 block(BS, BS);

    project<BS><<<dim3((3 * E + BS - 1) / BS, (rows + BS - 1) / BS), block, 0, stream>>>(x, w_qkv, b_qkv, qkv, rows, E, 3 * E);
    attention_scores<<<dim3((T + 31) / 32, (T + 7) / 8, B * NH), dim3(32, 8), 0, stream>>>(qkv, att, d, 1.0f / sqrtf((float)d.HD));
    softmax_inplace<<<B * NH * T, 128, 0, stream>>>(att, T);
    attention_values<<<dim3((E + 127) / 128, T, B), 128, 0, stream>>>(att, qkv, ctx, d);
    project<BS><<<dim3((E + BS - 1) / BS, (rows + BS - 1) / BS), block, 0, stream>>>(ctx, w_o, b_o, out, rows, E, E);
    return cudaGetLastError();
}
