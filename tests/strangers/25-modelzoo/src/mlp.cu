// Three dense layers with relu in between, weights as (in, out). The tile kernel is the one from the programming guide.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;

template <bool RELU>
__global__ void dense_tiled(const bf16* __restrict__ x, const bf16* __restrict__ w, const float* __restrict__ bias,
                            bf16* __restrict__ y, int rows, int ins, int outs)
{
    constexpr int T = 16;
    __shared__ bf16 xs[T][T];
    __shared__ bf16 ws[T][T];

    const int row = blockIdx.y * T + threadIdx.y;
    const int col = blockIdx.x * T + threadIdx.x;
    const bf16 zero = __float2bfloat16(0.f);

    float acc = 0.f;
    const int tiles = (ins + T - 1) / T;
    for (int t = 0; t < tiles; ++t) {
        const int xk = t * T + threadIdx.x;
        const int wk = t * T + threadIdx.y;
        xs[threadIdx.y][threadIdx.x] = row < rows && xk < ins ? x[(size_t)row * ins + xk] : zero;
        ws[threadIdx.y][threadIdx.x] = wk < ins && col < outs ? w[(size_t)wk * outs + col] : zero;
        __syncthreads();
        for (int k = 0; k < T; ++k)
            acc += __bfloat162float(xs[threadIdx.y][k]) * __bfloat162float(ws[k][threadIdx.x]);
        __syncthreads();
    }
    if (row >= rows || col >= outs) return;
    acc += bias[col];
    if (RELU) acc = fmaxf(acc, 0.f);
    y[(size_t)row * outs + col] = __float2bfloat16(acc);
}

template <bool RELU>
static void dense(const bf16* x, const bf16* w, const float* bias, bf16* y, int rows, int ins, int outs,
                  cudaStream_t stream)
{
    dense_tiled<RELU><<<dim3((outs + 15) / 16, (rows + 15) / 16), dim3(16, 16), 0, stream>>>(x, w, bias, y, rows, ins,
                                                                                            outs);
}

cudaError_t mlp3_forward(const bf16* x, const bf16* w1, const float* b1, const bf16* w2, const float* b2,
                         const bf16* w3, const float* b3, bf16* y, bf16* act1, bf16* act2, int rows, int d_in,
                         int hidden1, int hidden2, int d_out, cudaStream_t stream)
{
    dense<true>(x, w1, b1, act1, rows, d_in, hidden1, stream);
    dense<true>(act1, w2, b2, act2, rows, hidden1, hidden2, stream);
    dense<false>(act2, w3, b3, y, rows, hidden2, d_out, stream);
    return cudaGetLastError();
}
