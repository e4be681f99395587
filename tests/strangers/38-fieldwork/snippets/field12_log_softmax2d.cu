// F.log_softmax(x, dim=1) on segmentation logits, x: N x C x H x W
//
// one thread = one pixel, three sweeps over the classes

#include <cuda_runtime.h>

__global__ void logSoftmax2d(const float* __restrict__ logits, float* __restrict__ logProbs, int numClasses, int numPixels)
{
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < numPixels) {
        size_t offset = (size_t)blockIdx.y * numClasses * numPixels + pixel;
        const float* src = logits + offset;
        float* dst = logProbs + offset;

        // 1. max
        float maxVal = src[0];
        for (int c = 1; c < numClasses; c++) {
            maxVal = fmaxf(maxVal, src[(size_t)c * numPixels]);
        }

        // 2. sum of exponentials
        float sum = 0.0f;
        for (int c = 0; c < numClasses; c++) {
            sum += expf(src[(size_t)c * numPixels] - maxVal);
        }

        // 3. write
        float logSum = logf(sum);
        for (int c = 0; c < numClasses; c++) {
            dst[(size_t)c * numPixels] = src[(size_t)c * numPixels] - maxVal - logSum;
        }
    }
}

void log_softmax2d(const float* logits, float* logProbs, int N, int C, int H, int W)
{
    int numPixels = H * W;
    dim3 grid((numPixels + 63) / 64, N);
    logSoftmax2d<<<grid, 64>>>(logits, logProbs, C, numPixels);
}
