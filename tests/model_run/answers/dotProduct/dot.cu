// the sum over a block, in its first thread
__device__ float blockSum(float v) {
    __shared__ float cache[32];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) cache[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? cache[threadIdx.x] : 0;
    if (threadIdx.x < 32)
        for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}

__global__ void dot(const float * __restrict__ a, const float * __restrict__ b, float *c, int n) {
    const int stride = blockDim.x * gridDim.x, first = threadIdx.x + blockIdx.x * blockDim.x;
    const int vectors = ((size_t)a | (size_t)b) % 16 == 0 ? n / 4 : 0;
    float t0 = 0, t1 = 0, t2 = 0, t3 = 0;
#pragma unroll 4
    for (int i = first; i < vectors; i += stride) {
        const float4 p = reinterpret_cast<const float4 *>(a)[i], q = reinterpret_cast<const float4 *>(b)[i];
        t0 += p.x * q.x;
        t1 += p.y * q.y;
        t2 += p.z * q.z;
        t3 += p.w * q.w;
    }
    for (int i = 4 * vectors + first; i < n; i += stride) t0 += a[i] * b[i];
    const float sum = blockSum((t0 + t1) + (t2 + t3));
    if (threadIdx.x == 0) {
        if (gridDim.x == 1) c[0] = sum;
        else atomicAdd(c, sum);
    }
}
