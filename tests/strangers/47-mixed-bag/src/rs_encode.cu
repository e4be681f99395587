/*
 * rs_encode.cu - Reed-Solomon parity for erasure coding over GF(2^8), polynomial 0x11d
 *
 *   parity[r][i] = XOR_j  coef[r][j] * data[j][i]
 *
 * k data shards, m parity shards, len bytes each. The encoding matrix (Cauchy, Vandermonde,
 * whatever) is the caller's business.
 */
#include <cuda_runtime.h>
#include <stdint.h>

/* peasant multiplication, no tables */
__device__ static uint8_t gf_mul(uint8_t a, uint8_t b)
{
    uint8_t p = 0;
    int i;
    for (i = 0; i < 8; i++) {
        if (b & 1)
            p ^= a;
        uint8_t carry = a & 0x80;
        a <<= 1;
        if (carry)
            a ^= 0x1d;
        b >>= 1;
    }
    return p;
}

__global__ void rs_encode_kernel(const uint8_t *data, const uint8_t *coef, uint8_t *parity,
                                 int k, int len)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    int j;
    uint8_t acc = 0;

    if (i >= len)
        return;
    for (j = 0; j < k; j++)
        acc ^= gf_mul(coef[r * k + j], data[(size_t)j * len + i]);
    parity[(size_t)r * len + i] = acc;
}

extern "C" int rs_encode(const uint8_t *data, const uint8_t *coef, uint8_t *parity,
                         int k, int m, int len)
{
    dim3 grid((len + 255) / 256, m);
    rs_encode_kernel<<<grid, 256>>>(data, coef, parity, k, len);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
