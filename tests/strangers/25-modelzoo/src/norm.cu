#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace zoo {

__device__ float block_sum(float v, float* buf)
{
    const int tid = threadIdx.x;
    buf[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) buf[tid] += buf[tid + s];
        __syncthreads();
    }
    const float r = buf[0];
    __syncthreads();
    return r;
}

// one block for each sample and group, three passes over it
__global__ void group_norm_kernel(const half* __restrict__ x, const half* __restrict__ gamma,
                                  const half* __restrict__ beta, half* __restrict__ y, int channels, int spatial,
                                  int groups, float eps)
{
    __shared__ float buf[256];
    const int n = blockIdx.x / groups;
    const int g = blockIdx.x % groups;
    const int per = channels / groups;
    const int count = per * spatial;
    const size_t base = ((size_t)n * channels + g * per) * spatial;

    float sum = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += __half2float(x[base + i]);
    const float mean = block_sum(sum, buf) / count;

    float sq = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const float d = __half2float(x[base + i]) - mean;
        sq += d * d;
    }
    const float rstd = rsqrtf(block_sum(sq, buf) / count + eps);

    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const int c = g * per + i / spatial;
        const float v = (__half2float(x[base + i]) - mean) * rstd;
        y[base + i] = __float2half(v * __half2float(gamma[c]) + __half2float(beta[c]));
    }
}

__global__ void square_partials(const float* x, float* partial, long long n)
{
    __shared__ float buf[256];
    float s = 0.f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        s += x[i] * x[i];
    s = block_sum(s, buf);
    if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

__global__ void finish_norm(const float* partial, float* norm, int count)
{
    __shared__ float buf[256];
    float s = 0.f;
    for (int i = threadIdx.x; i < count; i += blockDim.x) s += partial[i];
    s = block_sum(s, buf);
    if (threadIdx.x == 0) *norm = sqrtf(s);
}

__global__ void divide_by_norm(const float* x, float* y, const float* norm, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / *norm;
}

}  // namespace zoo

cudaError_t group_norm_f16(const half* x, const half* gamma, const half* beta, half* y, int batch, int channels,
                           int spatial, int groups, float eps, cudaStream_t stream)
{
    if (groups <= 0 || channels % groups != 0) return cudaErrorInvalidValue;
    zoo::group_norm_kernel<<<batch * groups, 256, 0, stream>>>(x, gamma, beta, y, channels, spatial, groups, eps);
    return cudaGetLastError();
}

// y = x / ||x||_F over the whole tensor; workspace: partial (512 floats)
cudaError_t frobenius_normalize(const float* x, float* y, float* norm, float* partial, long long n,
                                cudaStream_t stream)
{
    if (n <= 0) return cudaErrorInvalidValue;
    const int blocks = n >= 512 * 256 ? 512 : (int)((n + 255) / 256);
    zoo::square_partials<<<blocks, 256, 0, stream>>>(x, partial, n);
    zoo::finish_norm<<<1, 256, 0, stream>>>(partial, norm, blocks);
    zoo::divide_by_norm<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, norm, n);
    return cudaGetLastError();
}
