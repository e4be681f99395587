// Adafactor without momentum, one 2D parameter (R x C). Issue 101: "optimizer state does not fit".
//
//   vr = beta2 * vr + (1 - beta2) * mean over columns of (g^2 + eps1)
//   vc = beta2 * vc + (1 - beta2) * mean over rows of (g^2 + eps1)
//   u  = g / sqrt(vr * vc / mean(vr))
//   p -= lr * u / max(1, rms(u) / clip)
//
// Order matters: everything below runs in one stream.
#include <cuda_runtime.h>

#define BLOCK 256

__device__ float blockReduceSum(float v)
{
    __shared__ float warpSums[BLOCK / 32];
    for (int mask = 16; mask; mask >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, mask);
    if (threadIdx.x % 32 == 0)
        warpSums[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0.f;
    for (int w = 0; w < BLOCK / 32; w++)
        total += warpSums[w];
    __syncthreads();
    return total;
}

__global__ void updateRows(const float *g, float *vr, int C, float beta2, float eps1)
{
    const float *row = g + (size_t)blockIdx.x * C;
    float s = 0.f;
    for (int c = threadIdx.x; c < C; c += BLOCK)
        s += row[c] * row[c] + eps1;
    s = blockReduceSum(s);
    if (threadIdx.x == 0)
        vr[blockIdx.x] = beta2 * vr[blockIdx.x] + (1.f - beta2) * s / C;
}

__global__ void updateCols(const float *g, float *vc, int R, int C, float beta2, float eps1)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= C)
        return;
    float s = 0.f;
    for (int r = 0; r < R; r++) {
        float x = g[(size_t)r * C + c];
        s += x * x + eps1;
    }
    vc[c] = beta2 * vc[c] + (1.f - beta2) * s / R;
}

// scal[0] = mean(vr)
__global__ void meanRows(const float *vr, float *scal, int R)
{
    float s = 0.f;
    for (int r = threadIdx.x; r < R; r += BLOCK)
        s += vr[r];
    s = blockReduceSum(s);
    if (threadIdx.x == 0)
        scal[0] = s / R;
}

__global__ void rawUpdate(const float *g, const float *vr, const float *vc, const float *scal, float *u, float *rowSq, int C)
{
    const size_t off = (size_t)blockIdx.x * C;
    const float rowFactor = rsqrtf(vr[blockIdx.x] / scal[0]);
    float s = 0.f;
    for (int c = threadIdx.x; c < C; c += BLOCK) {
        float x = g[off + c] * rowFactor * rsqrtf(vc[c]);
        u[off + c] = x;
        s += x * x;
    }
    s = blockReduceSum(s);
    if (threadIdx.x == 0)
        rowSq[blockIdx.x] = s;
}

// scal[1] = 1 / max(1, rms(u) / clip)
__global__ void clipFactor(const float *rowSq, float *scal, int R, int C, float clip)
{
    float s = 0.f;
    for (int r = threadIdx.x; r < R; r += BLOCK)
        s += rowSq[r];
    s = blockReduceSum(s);
    if (threadIdx.x == 0)
        scal[1] = 1.f / fmaxf(1.f, sqrtf(s / R / C) / clip);
}

__global__ void applyUpdate(float *p, const float *u, const float *scal, size_t n, float lr)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] -= lr * scal[1] * u[i];
}

extern "C" void adafactor_step(float *p, const float *g, float *vr, float *vc, float *u, float *rowSq, float *scal,
                               int R, int C, float lr, float beta2, float eps1, float clip, cudaStream_t stream)
{
    size_t n = (size_t)R * C;
    updateRows<<<R, BLOCK, 0, stream>>>(g, vr, C, beta2, eps1);
    updateCols<<<(C + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(g, vc, R, C, beta2, eps1);
    meanRows<<<1, BLOCK, 0, stream>>>(vr, scal, R);
    rawUpdate<<<R, BLOCK, 0, stream>>>(g, vr, vc, scal, u, rowSq, C);
    clipFactor<<<1, BLOCK, 0, stream>>>(rowSq, scal, R, C, clip);
    applyUpdate<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(p, u, scal, n, lr);
}
