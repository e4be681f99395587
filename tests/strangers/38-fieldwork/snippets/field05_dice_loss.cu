// Soft Dice loss for multi-label segmentation.
//
//   p     = sigmoid(logits)                            logits: [N][C][P] f32, mask: [N][C][P] u8 (0 or 1)
//   dice  = (2 * sum(p * m) + smooth) / (sum(p) + sum(m) + smooth)    per image and class, over the P pixels
//   loss  = 1 - mean(dice)
//
// One block per (image, class), then one warp for the mean.
#include <cuda_runtime.h>

#define FULL_MASK 0xffffffffu

__inline__ __device__ float warpSum(float v)
{
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_down_sync(FULL_MASK, v, offset);
    return v;
}

template <int THREADS>
__global__ void dicePerClass(const float *__restrict__ logits, const unsigned char *__restrict__ mask,
                             float *__restrict__ dice, int P, float smooth)
{
    constexpr int WARPS = THREADS / 32;
    __shared__ float partial[3][WARPS];

    const size_t base = (size_t)blockIdx.x * P;
    float inter = 0.0f, sumP = 0.0f, sumM = 0.0f;
    for (int i = threadIdx.x; i < P; i += THREADS) {
        const float p = 1.0f / (1.0f + expf(-logits[base + i]));
        const float m = (float)mask[base + i];
        inter += p * m;
        sumP += p;
        sumM += m;
    }

    inter = warpSum(inter);
    sumP = warpSum(sumP);
    sumM = warpSum(sumM);
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    if (lane == 0) {
        partial[0][warp] = inter;
        partial[1][warp] = sumP;
        partial[2][warp] = sumM;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        inter = sumP = sumM = 0.0f;
        for (int w = 0; w < WARPS; ++w) {
            inter += partial[0][w];
            sumP += partial[1][w];
            sumM += partial[2][w];
        }
        dice[blockIdx.x] = (2.0f * inter + smooth) / (sumP + sumM + smooth);
    }
}

__global__ void diceMean(const float *__restrict__ dice, float *__restrict__ loss, int count)
{
    float s = 0.0f;
    for (int i = threadIdx.x; i < count; i += 32)
        s += dice[i];
    s = warpSum(s);
    if (threadIdx.x == 0)
        *loss = 1.0f - s / count;
}

extern "C" int dice_loss(const float *logits, const unsigned char *mask, float *dice, float *loss, int N, int C, int P,
                         float smooth)
{
    dicePerClass<256><<<N * C, 256>>>(logits, mask, dice, P, smooth);
    diceMean<<<1, 32>>>(dice, loss, N * C);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
