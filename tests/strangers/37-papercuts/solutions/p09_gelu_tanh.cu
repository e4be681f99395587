// GELU, tanh approximation (GPT-2), half2 per thread
#include <cuda_fp16.h>

__device__ __forceinline__ float new_gelu(float x)
{
    const float k = 0.7978845608f;   // sqrt(2 / pi)
    return 0.5f * x * (1.0f + tanhf(k * (x + 0.044715f * x * x * x)));
}

__global__ void gelu_half2_kernel(const half2* __restrict__ in, half2* __restrict__ out, int n2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) {
        float2 v = __half22float2(in[i]);
        out[i] = __floats2half2_rn(new_gelu(v.x), new_gelu(v.y));
    }
}

__global__ void gelu_half_kernel(const half* in, half* out, int from, int n)
{
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half(new_gelu(__half2float(in[i])));
}

void gelu_tanh(const half* in, half* out, int n)
{
    bool aligned = ((size_t)in | (size_t)out) % sizeof(half2) == 0;
    int n2 = aligned ? n / 2 : 0;
    if (n2) gelu_half2_kernel<<<(n2 + 255) / 256, 256>>>((const half2*)in, (half2*)out, n2);
    int rest = n - 2 * n2;
    if (rest) gelu_half_kernel<<<(rest + 255) / 256, 256>>>(in, out, 2 * n2, n);
}
