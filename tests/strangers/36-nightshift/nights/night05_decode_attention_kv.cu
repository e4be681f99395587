// night 5: attention of one new token against a KV cache, ragged lengths
//   q: [B, H, D]   k_cache, v_cache: [B, H, S, D]   seq_lens: [B], 1 ... S   out: [B, H, D]
// One block per (sequence, head): scores stay in shared memory.
#include <cuda_fp16.h>
#include <cfloat>

#define NWARPS 8
#define NTHREADS (NWARPS * 32)

__global__ void __launch_bounds__(NTHREADS)
decode_kernel(const __half *__restrict__ q, const __half *__restrict__ k_cache, const __half *__restrict__ v_cache,
              const int *__restrict__ seq_lens, __half *__restrict__ out, int H, int S, int D, float scale)
{
    extern __shared__ float smem[];
    float *sq = smem;          // D
    float *sp = smem + D;      // S
    __shared__ float red[NWARPS];

    const int head = blockIdx.x, seq = blockIdx.y;
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const size_t bh = (size_t)seq * H + head;
    const __half *K = k_cache + bh * S * D;
    const __half *V = v_cache + bh * S * D;
    const int len = seq_lens[seq];

    for (int d = tid; d < D; d += NTHREADS) sq[d] = __half2float(q[bh * D + d]) * scale;
    __syncthreads();

    // q . k, a warp per position
    float mx = -FLT_MAX;
    for (int s = warp; s < len; s += NWARPS) {
        float dot = 0.f;
        for (int d = lane; d < D; d += 32) dot += sq[d] * __half2float(K[(size_t)s * D + d]);
        for (int o = 16; o > 0; o >>= 1) dot += __shfl_xor_sync(0xffffffffu, dot, o);
        if (lane == 0) sp[s] = dot;
        mx = fmaxf(mx, dot);
    }
    if (lane == 0) red[warp] = mx;
    __syncthreads();
    mx = red[0];
    for (int w = 1; w < NWARPS; ++w) mx = fmaxf(mx, red[w]);
    __syncthreads();

    float sum = 0.f;
    for (int s = tid; s < len; s += NTHREADS) {
        const float e = __expf(sp[s] - mx);
        sp[s] = e;
        sum += e;
    }
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (lane == 0) red[warp] = sum;
    __syncthreads();
    sum = 0.f;
    for (int w = 0; w < NWARPS; ++w) sum += red[w];
    const float inv = 1.f / sum;

    // p . v, a thread per channel
    for (int d = tid; d < D; d += NTHREADS) {
        float acc = 0.f;
        for (int s = 0; s < len; ++s) acc += sp[s] * __half2float(V[(size_t)s * D + d]);
        out[bh * D + d] = __float2half(acc * inv);
    }
}

void decode_attention_kv(const __half *q, const __half *k_cache, const __half *v_cache, const int *seq_lens, __half *out,
                         int B, int H, int S, int D, float scale, cudaStream_t stream)
{
    const size_t smem = (size_t)(S + D) * sizeof(float);
    decode_kernel<<<dim3(H, B), NTHREADS, smem, stream>>>(q, k_cache, v_cache, seq_lens, out, H, S, D, scale);
}
