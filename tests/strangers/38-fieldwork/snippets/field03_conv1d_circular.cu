// conv1d, padding_mode='circular', for series that wrap around (angles, hours of the day, ring sensors)
//
// channels last!   x: (N, L, Ci)   w: (K, Ci, Co)   bias: (Co)   y: (N, L, Co)      bf16 in, bf16 out, sums in f32
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

__global__ void conv1d_circular_kernel(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int N, int L, int Ci, int Co, int K, int dil)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= N * L * Co)
        return;

    int co = id % Co;
    int l = id / Co % L;
    int n = id / Co / L;

    float sum = __bfloat162float(bias[co]);
    for (int k = 0; k < K; k++) {
        int p = (l + (k - K / 2) * dil) % L;
        if (p < 0)
            p += L;                                 // C's % has the sign of the dividend
        const bf16 *xr = x + (n * L + p) * Ci;
        const bf16 *wr = w + k * Ci * Co + co;
        for (int ci = 0; ci < Ci; ci++)
            sum += __bfloat162float(xr[ci]) * __bfloat162float(wr[ci * Co]);
    }
    y[id] = __float2bfloat16(sum);
}

extern "C" void conv1d_circular(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y,
                                int N, int L, int Ci, int Co, int K, int dil)
{
    int total = N * L * Co;
    conv1d_circular_kernel<<<(total + 255) / 256, 256>>>(x, w, bias, y, N, L, Ci, Co, K, dil);
}
