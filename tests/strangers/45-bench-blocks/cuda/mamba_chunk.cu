// Mamba-2 (SSD), the part inside of a chunk:
//   y_diag[l, p]  = sum_{s <= l} (C_l . B_s) exp(a_cum[l] - a_cum[s]) x[s, p]
//   state[p, n]   = sum_l B[l, n] exp(a_cum[last] - a_cum[l]) x[l, p]
// x: (batch, chunks, 64, heads, P), a: (batch, chunks, 64, heads), B, C: (batch, chunks, 64, heads, S)
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define CHUNK 64
#define LOADF(p) __bfloat162float(*(p))

__global__ void ssd_chunk(const __nv_bfloat16* __restrict__ x, const float* __restrict__ a, const __nv_bfloat16* __restrict__ Bm,
                          const __nv_bfloat16* __restrict__ Cm, __nv_bfloat16* __restrict__ y, float* __restrict__ states, int heads,
                          int P, int S) {
    __shared__ float cum[CHUNK];
    __shared__ float m[CHUNK][CHUNK + 1];

    const int h = blockIdx.x;
    const size_t chunk = blockIdx.y;  // batch and chunk
    const size_t row0 = chunk * CHUNK;
    const int tid = threadIdx.x;

    if (tid < CHUNK) cum[tid] = a[(row0 + tid) * heads + h];
    __syncthreads();
    // inclusive scan of a, Hillis-Steele
    for (int d = 1; d < CHUNK; d *= 2) {
        float add = 0.f;
        if (tid < CHUNK && tid >= d) add = cum[tid - d];
        __syncthreads();
        if (tid < CHUNK) cum[tid] += add;
        __syncthreads();
    }

    for (int i = tid; i < CHUNK * CHUNK; i += blockDim.x) {
        const int l = i / CHUNK, s = i % CHUNK;
        float g = 0.f;
        if (s <= l) {
            const __nv_bfloat16* c = Cm + ((row0 + l) * heads + h) * S;
            const __nv_bfloat16* b = Bm + ((row0 + s) * heads + h) * S;
            for (int n = 0; n < S; ++n) g += LOADF(c + n) * LOADF(b + n);
            g *= expf(cum[l] - cum[s]);
        }
        m[l][s] = g;
    }
    __syncthreads();

    for (int i = tid; i < CHUNK * P; i += blockDim.x) {
        const int l = i / P, p = i % P;
        float acc = 0.f;
        for (int s = 0; s <= l; ++s) acc += m[l][s] * LOADF(x + ((row0 + s) * heads + h) * P + p);
        y[((row0 + l) * heads + h) * P + p] = __float2bfloat16(acc);
    }

    for (int i = tid; i < P * S; i += blockDim.x) {
        const int p = i / S, n = i % S;
        float acc = 0.f;
        for (int l = 0; l < CHUNK; ++l) {
            const float decay = expf(cum[CHUNK - 1] - cum[l]);
            acc += LOADF(Bm + ((row0 + l) * heads + h) * S + n) * decay * LOADF(x + ((row0 + l) * heads + h) * P + p);
        }
        states[(chunk * heads + h) * P * S + i] = acc;
    }
}

void mamba_ssd_chunk(const __nv_bfloat16* x, const float* a, const __nv_bfloat16* Bm, const __nv_bfloat16* Cm, __nv_bfloat16* y,
                     float* states, int batch, int chunks, int heads, int P, int S, cudaStream_t stream = 0) {
    dim3 grid(heads, batch * chunks);
    ssd_chunk<<<grid, 256, 0, stream>>>(x, a, Bm, Cm, y, states, heads, P, S);
}
