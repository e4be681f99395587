#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math.h>

// Step 1: linear layer, one thread per output feature
__global__ void linear_kernel(
    const __half* __restrict__ x, const __half* __restrict__ weight, const __half* __restrict__ bias,
    __half* __restrict__ y, int batch, int in_features, int out_features)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= batch || col >= out_features) return;

    float sum = __half2float(bias[col]);
    for (int i = 0; i < in_features; ++i) {
        sum += __half2float(x[row * in_features + i]) * __half2float(weight[col * in_features + i]);
    }
    y[row * out_features + col] = __float2half(sum);
}

// Step 2: average pooling over the features, GELU and scale
__global__ void pool_gelu_scale_kernel(
    const __half* __restrict__ y, float* __restrict__ pooled,
    int batch, int out_features, int pool, int pooled_features, float scale)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= batch * pooled_features) return;

    int row = idx / pooled_features;
    int p = idx % pooled_features;

    float sum = 0.0f;
    for (int i = 0; i < pool; ++i) {
        sum += __half2float(y[row * out_features + p * pool + i]);
    }
    float v = sum / pool;

    // GELU (exact)
    v = 0.5f * v * (1.0f + erff(v / sqrtf(2.0f)));
    pooled[idx] = v * scale;
}

// Step 3: maximum over the pooled features, one block per row
__global__ void row_max_kernel(const float* __restrict__ pooled, __half* __restrict__ out, int pooled_features)
{
    extern __shared__ float shared_max[];
    int row = blockIdx.x;
    int tid = threadIdx.x;

    float m = -INFINITY;
    for (int i = tid; i < pooled_features; i += blockDim.x) {
        m = fmaxf(m, pooled[row * pooled_features + i]);
    }
    shared_max[tid] = m;
    __syncthreads();

    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride) {
            shared_max[tid] = fmaxf(shared_max[tid], shared_max[tid + stride]);
        }
        __syncthreads();
    }

    if (tid == 0) {
        out[row] = __float2half(shared_max[0]);
    }
}

extern "C" void matmul_avgpool_gelu_scale_max(
    const __half* x, const __half* weight, const __half* bias,
    __half* linear_out, float* pooled, __half* out,
    int batch, int in_features, int out_features, int pool, float scale)
{
    int pooled_features = out_features / pool;

    dim3 grid((out_features + 127) / 128, batch);
    linear_kernel<<<grid, 128>>>(x, weight, bias, linear_out, batch, in_features, out_features);

    int n = batch * pooled_features;
    pool_gelu_scale_kernel<<<(n + 255) / 256, 256>>>(linear_out, pooled, batch, out_features, pool, pooled_features, scale);

    row_max_kernel<<<batch, 256, 256 * sizeof(float)>>>(pooled, out, pooled_features);
}
