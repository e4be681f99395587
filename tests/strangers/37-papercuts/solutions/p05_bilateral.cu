/* Bilateral filter on a float image, edges replicated. Homework 5. */
#include <cuda_runtime.h>
#include <math.h>

__global__ void bilateralFilter(const float *src, float *dst, int w, int h, int radius, float inv2ss, float inv2sr)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;

    float center = src[y * w + x];
    float sum = 0.0f, norm = 0.0f;

    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            int xx = min(max(x + dx, 0), w - 1);
            int yy = min(max(y + dy, 0), h - 1);
            float v = src[yy * w + xx];
            float diff = v - center;
            float weight = expf(-(dx * dx + dy * dy) * inv2ss - diff * diff * inv2sr);
            sum += weight * v;
            norm += weight;
        }
    }
    dst[y * w + x] = sum / norm;
}

void bilateral(const float *src, float *dst, int w, int h, int radius, float sigma_space, float sigma_range)
{
    dim3 block(16, 16);
    dim3 grid((w + 15) / 16, (h + 15) / 16);
    bilateralFilter<<<grid, block>>>(src, dst, w, h, radius, 1.0f / (2.0f * sigma_space * sigma_space),
                                     1.0f / (2.0f * sigma_range * sigma_range));
}
