#include "common.cuh"

/* 4 bits: a block is 32 weights in 16 bytes; low nibbles are elements 0..15, high ones 16..31; value = (nibble - 8) * scale */
#define QK 32

__global__ void k_matvec_q4(float* __restrict__ y, const uint8_t* __restrict__ qs, const __half* __restrict__ sc,
                            const __half* __restrict__ x, int rows, int blocks) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float acc = 0.f;
    for (int b = threadIdx.x; b < blocks; b += WARP) {
        const uint8_t* q = qs + ((size_t)row * blocks + b) * (QK / 2);
        const __half* xb = x + (size_t)b * QK;
        float part = 0.f;
        for (int i = 0; i < QK / 2; i++) {
            part += (float)((q[i] & 15) - 8) * __half2float(xb[i]);
            part += (float)((q[i] >> 4) - 8) * __half2float(xb[i + QK / 2]);
        }
        acc += part * __half2float(sc[(size_t)row * blocks + b]);
    }
    acc = warp_sum(acc);
    if (threadIdx.x == 0) y[row] = acc;
}

extern "C" void tl_matvec_q4(float* y, const uint8_t* qs, const __half* sc, const __half* x, int rows, int blocks,
                             cudaStream_t st) {
    k_matvec_q4<<<(rows + 3) / 4, dim3(32, 4), 0, st>>>(y, qs, sc, x, rows, blocks);
}

/* 8 bits: rows of an embedding table, gathered and dequantized; a scale for every 32 elements */
__global__ void k_embed_q8(__half* out, const int8_t* table, const __half* sc, const int32_t* tok, int vocab, int dim) {
    const int id = tok[blockIdx.x];
    if (id < 0 || id >= vocab) { /* padding */
        for (int i = threadIdx.x; i < dim; i += blockDim.x) out[(size_t)blockIdx.x * dim + i] = __float2half(0.f);
        return;
    }
    for (int i = threadIdx.x; i < dim; i += blockDim.x) {
        const float s = __half2float(sc[(size_t)id * (dim / QK) + i / QK]);
        out[(size_t)blockIdx.x * dim + i] = __float2half(table[(size_t)id * dim + i] * s);
    }
}

extern "C" void tl_embed_q8(__half* out, const int8_t* table, const __half* sc, const int32_t* tok, int n_tok, int vocab,
                            int dim, cudaStream_t st) {
    k_embed_q8<<<n_tok, 64, 0, st>>>(out, table, sc, tok, vocab, dim);
}
