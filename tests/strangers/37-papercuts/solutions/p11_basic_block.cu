// ResNet BasicBlock at inference: relu(bn2(conv2(relu(bn1(conv1(x))))) + x), both convs 3x3, padding 1, no bias
#include <cuda_runtime.h>

typedef struct {
    const float *gamma, *beta, *mean, *var;
} BatchNorm;

template <bool RESIDUAL>
__global__ void conv3x3_bn_relu(const float *__restrict__ in, const float *__restrict__ weight, BatchNorm bn,
                                const float *__restrict__ identity, float *__restrict__ out, int C, int H, int W, float eps)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int n = blockIdx.z / C;
    const int k = blockIdx.z % C;
    if (x >= W || y >= H) return;

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float *plane = in + ((size_t)n * C + c) * H * W;
        const float *f = weight + ((size_t)k * C + c) * 9;
        for (int dy = -1; dy <= 1; ++dy) {
            const int yy = y + dy;
            if (yy < 0 || yy >= H) continue;
            for (int dx = -1; dx <= 1; ++dx) {
                const int xx = x + dx;
                if (xx < 0 || xx >= W) continue;
                sum += plane[yy * W + xx] * f[(dy + 1) * 3 + dx + 1];
            }
        }
    }

    const float inv = rsqrtf(bn.var[k] + eps);
    float v = (sum - bn.mean[k]) * inv * bn.gamma[k] + bn.beta[k];
    const size_t at = (((size_t)n * C + k) * H + y) * W + x;
    if (RESIDUAL) v += identity[at];
    out[at] = fmaxf(v, 0.0f);
}

void basic_block(const float *x, const float *w1, const float *g1, const float *b1, const float *m1, const float *v1,
                 const float *w2, const float *g2, const float *b2, const float *m2, const float *v2, float *mid, float *out,
                 int N, int C, int H, int W, float eps)
{
    dim3 block(16, 16);
    dim3 grid((W + 15) / 16, (H + 15) / 16, N * C);
    BatchNorm bn1 = {g1, b1, m1, v1};
    BatchNorm bn2 = {g2, b2, m2, v2};
    conv3x3_bn_relu<false><<<grid, block>>>(x, w1, bn1, nullptr, mid, C, H, W, eps);
    conv3x3_bn_relu<true><<<grid, block>>>(mid, w2, bn2, x, out, C, H, W, eps);
}
