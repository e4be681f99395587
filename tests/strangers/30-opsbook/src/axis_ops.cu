// Level 1: operations along one axis.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// log_softmax(x / temperature), one block of 256 per row, three passes over the row
__global__ void log_softmax_t_kernel(const __nv_bfloat16* x, __nv_bfloat16* y, int cols, float inv_t)
{
    __shared__ float buf[256];
    const __nv_bfloat16* row = x + (size_t)blockIdx.x * cols;
    __nv_bfloat16* dst = y + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -INFINITY;
    for (int c = t; c < cols; c += 256) m = fmaxf(m, __bfloat162float(row[c]) * inv_t);
    buf[t] = m;
    __syncthreads();
    for (int o = 128; o; o >>= 1) {
        if (t < o) buf[t] = fmaxf(buf[t], buf[t + o]);
        __syncthreads();
    }
    m = buf[0];
    __syncthreads();
    float s = 0.f;
    for (int c = t; c < cols; c += 256) s += expf(__bfloat162float(row[c]) * inv_t - m);
    buf[t] = s;
    __syncthreads();
    for (int o = 128; o; o >>= 1) {
        if (t < o) buf[t] += buf[t + o];
        __syncthreads();
    }
    float lse = m + logf(buf[0]);
    for (int c = t; c < cols; c += 256) dst[c] = __float2bfloat16(__bfloat162float(row[c]) * inv_t - lse);
}

void log_softmax_temperature(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols, float temperature)
{
    log_softmax_t_kernel<<<rows, 256>>>(x, y, cols, 1.0f / temperature);
}

// y[r][c] = sum of x[r][c + 1 ...]: exclusive, from the right. A thread walks a row.
__global__ void rcumsum_kernel(const float* x, float* y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float run = 0.f;
        for (int c = cols - 1; c >= 0; --c) {
            y[(size_t)r * cols + c] = run;
            run += x[(size_t)r * cols + c];
        }
    }
}

void reverse_cumsum_exclusive(const float* x, float* y, int rows, int cols)
{
    rcumsum_kernel<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
}

// max_pool1d with dilation and indices; windows never start outside, no padding
__global__ void maxpool1d_kernel(const half* x, half* y, int* where, int rows, int L, int OL, int k, int stride, int dilation)
{
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (o >= OL) return;
    const half* p = x + (size_t)r * L;
    float best = __half2float(p[o * stride]);
    int at = o * stride;
    for (int j = 1; j < k; ++j) {
        int i = o * stride + j * dilation;
        float v = __half2float(p[i]);
        if (v > best) { best = v; at = i; }
    }
    y[(size_t)r * OL + o] = __float2half(best);
    where[(size_t)r * OL + o] = at;
}

void max_pool1d_indices(const half* x, half* y, int* where, int rows, int OL, int k, int stride, int dilation)
{
    int L = (OL - 1) * stride + (k - 1) * dilation + 1;
    maxpool1d_kernel<<<dim3((OL + 127) / 128, rows), 128>>>(x, y, where, rows, L, OL, k, stride, dilation);
}

// min and argmin over the middle axis of [B][R][C]; the first one wins
__global__ void min_middle_kernel(const float* x, float* val, int* arg, int B, int R, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * C) return;
    int b = i / C, c = i - b * C;
    const float* p = x + (size_t)b * R * C + c;
    float lo = p[0];
    int pos = 0;
    for (int r = 1; r < R; r++) {
        float v = p[(size_t)r * C];
        if (v < lo) { lo = v; pos = r; }
    }
    val[i] = lo;
    arg[i] = pos;
}

void min_argmin_middle(const float* x, float* val, int* arg, int B, int R, int C)
{
    min_middle_kernel<<<(B * C + 127) / 128, 128>>>(x, val, arg, B, R, C);
}
