// Bilateral filter of a gray image in [0, 1], edges mirrored. Straight from the textbook.
#include <cuda_runtime.h>

#ifndef BILATERAL_RADIUS
#define BILATERAL_RADIUS 4
#endif

struct ImageView {
    const float* data;
    int width, height;

    __device__ float at(int x, int y) const {
        if (x < 0) x = -x;
        if (y < 0) y = -y;
        if (x >= width) x = 2 * width - 2 - x;
        if (y >= height) y = 2 * height - 2 - y;
        return data[y * width + x];
    }
};

__global__ void bilateralFilter(ImageView src, float* dst, float sigmaSpace, float sigmaRange)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= src.width || y >= src.height) return;

    float center = src.at(x, y);
    float sum = 0.0f, norm = 0.0f;
    for (int dy = -BILATERAL_RADIUS; dy <= BILATERAL_RADIUS; dy++) {
        for (int dx = -BILATERAL_RADIUS; dx <= BILATERAL_RADIUS; dx++) {
            float v = src.at(x + dx, y + dy);
            float diff = v - center;
            float ws = expf(-(float)(dx * dx + dy * dy) / (2.0f * sigmaSpace * sigmaSpace));
            float wr = expf(-diff * diff / (2.0f * sigmaRange * sigmaRange));
            sum += ws * wr * v;
            norm += ws * wr;
        }
    }
    dst[y * src.width + x] = sum / norm;
}

void bilateral_filter(const float* image, float* filtered, int width, int height,
                      float sigmaSpace, float sigmaRange)
{
    // mirroring needs an image larger than the window's radius
    if (width <= BILATERAL_RADIUS || height <= BILATERAL_RADIUS) {
        cudaMemcpyAsync(filtered, image, sizeof(float) * width * height, cudaMemcpyDeviceToDevice);
        return;
    }
    dim3 threads(16, 16);
    dim3 blocks((width + 15) / 16, (height + 15) / 16);
    bilateralFilter<<<blocks, threads>>>(ImageView{image, width, height}, filtered, sigmaSpace, sigmaRange);
}
