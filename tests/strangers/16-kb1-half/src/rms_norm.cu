// RMSNorm over the channels (dim 1) of a B x C x S tensor, S = H * W
#include "util.cuh"

__global__ void rms_norm_kernel(const half* x, half* y, int B, int C, int S, float eps) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B * S) return;
    int s = idx % S;
    int b = idx / S;
    float sum = 0.0f;
    for (int c = 0; c < C; c++) {
        float v = __half2float(x[(b * C + c) * S + s]);
        sum += v * v;
    }
    float rms = sqrtf(sum / C + eps);
    for (int c = 0; c < C; c++)
        y[(b * C + c) * S + s] = __float2half(__half2float(x[(b * C + c) * S + s]) / rms);
}

void rms_norm_forward(const half* x, half* y, int B, int C, int S, float eps) {
    rms_norm_kernel<<<CEIL_DIV(B * S, 256), 256>>>(x, y, B, C, S, eps);
}
