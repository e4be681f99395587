// night 12: the MLP of a Llama block, bf16:  out = (silu(x Wg^T) * (x Wu^T)) Wd^T
//   x: [T, D]   wg, wu: [F, D]   wd: [D, F]   hidden: [T, F]   out: [T, D]
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;
constexpr int BLK = 16;

// gate and up share the tile of x
__global__ void gate_up(const bf16* __restrict__ x, const bf16* __restrict__ wg, const bf16* __restrict__ wu,
                        bf16* __restrict__ hidden, int T, int D, int F)
{
    __shared__ float sx[BLK][BLK];
    __shared__ float sg[BLK][BLK + 1];
    __shared__ float su[BLK][BLK + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int t = blockIdx.y * BLK + ty;
    const int f = blockIdx.x * BLK + tx;
    const int frow = blockIdx.x * BLK + ty;

    float gate = 0.f, up = 0.f;
    for (int d0 = 0; d0 < D; d0 += BLK) {
        const int d = d0 + tx;
        sx[ty][tx] = (t < T && d < D) ? __bfloat162float(x[(size_t)t * D + d]) : 0.f;
        sg[ty][tx] = (frow < F && d < D) ? __bfloat162float(wg[(size_t)frow * D + d]) : 0.f;
        su[ty][tx] = (frow < F && d < D) ? __bfloat162float(wu[(size_t)frow * D + d]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BLK; ++i) {
            gate += sx[ty][i] * sg[tx][i];
            up += sx[ty][i] * su[tx][i];
        }
        __syncthreads();
    }
    if (t < T && f < F) hidden[(size_t)t * F + f] = __float2bfloat16(gate / (1.f + expf(-gate)) * up);
}

__global__ void down(const bf16* __restrict__ hidden, const bf16* __restrict__ wd, bf16* __restrict__ out, int T, int D, int F)
{
    __shared__ float sh[BLK][BLK];
    __shared__ float sw[BLK][BLK + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int t = blockIdx.y * BLK + ty;
    const int d = blockIdx.x * BLK + tx;
    const int drow = blockIdx.x * BLK + ty;

    float acc = 0.f;
    for (int f0 = 0; f0 < F; f0 += BLK) {
        const int f = f0 + tx;
        sh[ty][tx] = (t < T && f < F) ? __bfloat162float(hidden[(size_t)t * F + f]) : 0.f;
        sw[ty][tx] = (drow < D && f < F) ? __bfloat162float(wd[(size_t)drow * F + f]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BLK; ++i) acc += sh[ty][i] * sw[tx][i];
        __syncthreads();
    }
    if (t < T && d < D) out[(size_t)t * D + d] = __float2bfloat16(acc);
}

void swiglu_mlp(const bf16* x, const bf16* wg, const bf16* wu, const bf16* wd, bf16* hidden, bf16* out, int T, int D, int F,
                cudaStream_t stream)
{
    const dim3 block(BLK, BLK);
    gate_up<<<dim3((F + BLK - 1) / BLK, (T + BLK - 1) / BLK), block, 0, stream>>>(x, wg, wu, hidden, T, D, F);
    down<<<dim3((D + BLK - 1) / BLK, (T + BLK - 1) / BLK), block, 0, stream>>>(hidden, wd, out, T, D, F);
}
