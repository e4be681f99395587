// Gradient of a 2D convolution with respect to its weights and its bias, from the saved input and the gradient of the output.
//   x: [N, C, H, W] half      dy: [N, K, OH, OW] half      dw: [K, C, R, R] float      db: [K] float
// TODO: one thread sums over the whole batch for a weight; ask Ines for her im2col version.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void weight_grad(const half* x, const half* dy, float* dw, int N, int C, int H, int W, int K, int OH, int OW, int R,
                            int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= K * C * R * R)
        return;
    int s = i % R;
    int r = i / R % R;
    int c = i / (R * R) % C;
    int k = i / (R * R * C);

    float sum = 0;
    for (int n = 0; n < N; n++) {
        const half* image = x + ((size_t)n * C + c) * H * W;
        const half* grad = dy + ((size_t)n * K + k) * OH * OW;
        for (int oh = 0; oh < OH; oh++) {
            int h = oh * stride - pad + r;
            if (h < 0 || h >= H)
                continue;
            for (int ow = 0; ow < OW; ow++) {
                int w = ow * stride - pad + s;
                if (w >= 0 && w < W)
                    sum += __half2float(image[h * W + w]) * __half2float(grad[oh * OW + ow]);
            }
        }
    }
    dw[i] = sum;
}

__global__ void bias_grad(const half* dy, float* db, int N, int K, int P)
{
    int k = blockIdx.x;
    __shared__ float part[256];
    float sum = 0;
    for (int n = 0; n < N; n++)
        for (int p = threadIdx.x; p < P; p += 256)
            sum += __half2float(dy[((size_t)n * K + k) * P + p]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half_count = 128; half_count > 0; half_count /= 2) {
        if (threadIdx.x < half_count)
            part[threadIdx.x] += part[threadIdx.x + half_count];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        db[k] = part[0];
}

int conv2d_wgrad(const half* x, const half* dy, float* dw, float* db, int N, int C, int H, int W, int K, int R, int stride,
                 int pad)
{
    if (H + 2 * pad < R || W + 2 * pad < R)
        return -1;
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - R) / stride + 1;
    int total = K * C * R * R;
    weight_grad<<<(total + 127) / 128, 128>>>(x, dy, dw, N, C, H, W, K, OH, OW, R, stride, pad);
    bias_grad<<<K, 256>>>(dy, db, N, K, OH * OW);
    return 0;
}
