// 256 bins for each channel of an interleaved 8-bit image.
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void channel_histogram_kernel(const uint8_t* image, unsigned int* hist, int pixels, int channels)
{
    __shared__ unsigned int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();

    const int ch = blockIdx.y;
    const int stride = gridDim.x * blockDim.x;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < pixels; p += stride)
        atomicAdd(&bins[image[(size_t)p * channels + ch]], 1u);
    __syncthreads();

    if (bins[threadIdx.x]) atomicAdd(&hist[ch * 256 + threadIdx.x], bins[threadIdx.x]);
}

extern "C" cudaError_t channel_histogram(const uint8_t* image, unsigned int* hist, int pixels, int channels,
                                         cudaStream_t stream)
{
    cudaError_t e = cudaMemsetAsync(hist, 0, sizeof(unsigned int) * 256 * channels, stream);
    if (e != cudaSuccess) return e;
    int blocks = (pixels + 255) / 256;
    if (blocks > 512) blocks = 512;
    channel_histogram_kernel<<<dim3(blocks, channels), 256, 0, stream>>>(image, hist, pixels, channels);
    return cudaGetLastError();
}
