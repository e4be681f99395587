// linear -> sigmoid -> linear -> logsumexp over the features
#include <cuda_runtime.h>

// C = act(A * B^T + bias), every thread computes a 4x1 strip
template <bool kSigmoid>
__global__ void linear_strip4(const float* __restrict__ A, const float* __restrict__ B, const float* __restrict__ bias,
                              float* __restrict__ C, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (col >= n || row0 >= m) return;
    int rows = min(4, m - row0);

    const float* b = B + (size_t)col * k;
    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int i = 0; i < k; ++i) {
        float bv = b[i];
        #pragma unroll
        for (int r = 0; r < 4; ++r)
            if (r < rows) acc[r] += A[(size_t)(row0 + r) * k + i] * bv;
    }
    for (int r = 0; r < rows; ++r) {
        float v = acc[r] + bias[col];
        if (kSigmoid) v = 1.f / (1.f + expf(-v));
        C[(size_t)(row0 + r) * n + col] = v;
    }
}

__global__ void row_logsumexp(const float* __restrict__ x, float* __restrict__ out, int n)
{
    __shared__ float sdata[256];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * n;

    float m = -INFINITY;
    for (int i = tid; i < n; i += 256) m = fmaxf(m, row[i]);
    sdata[tid] = m;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }
    m = sdata[0];
    __syncthreads();

    float sum = 0.f;
    for (int i = tid; i < n; i += 256) sum += expf(row[i] - m);
    sdata[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = m + logf(sdata[0]);
}

void gemm_sigmoid_gemm_lse(const float* x, const float* w1, const float* b1, const float* w2, const float* b2, float* hidden,
                           float* logits, float* out, int batch, int n_in, int n_hidden, int n_out)
{
    dim3 block(16, 16);
    dim3 grid1((n_hidden + 15) / 16, (batch + 63) / 64);
    linear_strip4<true><<<grid1, block>>>(x, w1, b1, hidden, batch, n_hidden, n_in);
    dim3 grid2((n_out + 15) / 16, (batch + 63) / 64);
    linear_strip4<false><<<grid2, block>>>(hidden, w2, b2, logits, batch, n_out, n_hidden);
    row_logsumexp<<<batch, 256>>>(logits, out, n_out);
}
