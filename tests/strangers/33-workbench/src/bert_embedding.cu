// BERT embeddings: LayerNorm(word[id] + position[s] + type[segment]), bf16. A block per token, the sum in shared memory.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__device__ float block_reduce_sum(float v, float* buf)
{
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 == 0) buf[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? buf[threadIdx.x] : 0.0f;
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
        if (threadIdx.x == 0) buf[0] = v;
    }
    __syncthreads();
    v = buf[0];
    __syncthreads();
    return v;
}

__global__ void bert_embedding_kernel(const int* ids, const int* segments, const __nv_bfloat16* word,
                                      const __nv_bfloat16* position, const __nv_bfloat16* type,
                                      const __nv_bfloat16* gamma, const __nv_bfloat16* beta, __nv_bfloat16* out,
                                      int seq, int dim, int vocab, float eps)
{
    extern __shared__ float row[];
    __shared__ float buf[32];
    const int token = blockIdx.x;
    const int id = ids[token];
    const size_t w = (size_t)(id >= 0 && id < vocab ? id : 0) * dim;      // unknown ids become [PAD]
    const size_t p = (size_t)(token % seq) * dim;
    const size_t t = segments[token] == 1 ? (size_t)dim : 0;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        const float v = __bfloat162float(word[w + i]) + __bfloat162float(position[p + i]) + __bfloat162float(type[t + i]);
        row[i] = v;
        sum += v;
    }
    const float mean = block_reduce_sum(sum, buf) / dim;
    float sq = 0.0f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) sq += (row[i] - mean) * (row[i] - mean);
    const float rstd = rsqrtf(block_reduce_sum(sq, buf) / dim + eps);
    for (int i = threadIdx.x; i < dim; i += blockDim.x)
        out[(size_t)token * dim + i] = __float2bfloat16((row[i] - mean) * rstd * __bfloat162float(gamma[i]) +
                                                        __bfloat162float(beta[i]));
}

void bert_embedding_bf16(const int* ids, const int* segments, const __nv_bfloat16* word, const __nv_bfloat16* position,
                         const __nv_bfloat16* type, const __nv_bfloat16* gamma, const __nv_bfloat16* beta,
                         __nv_bfloat16* out, int batch, int seq, int dim, int vocab, float eps,
                         cudaStream_t stream)
{
    if (batch <= 0 || seq <= 0 || dim <= 0 || vocab <= 0 || dim > 8192 || (long long)batch * seq > 2147483647LL) return;
    bert_embedding_kernel<<<batch * seq, 128, dim * sizeof(float), stream>>>(ids, segments, word, position, type, gamma,
                                                                             beta, out, seq, dim, vocab, eps);
}
