// A piece of Inception: three branches written side by side into the channels of one output.
//   1x1 | 1x1 -> 3x3 | maxpool 3x3 -> 1x1, ReLU after each convolution
#include <cuda_fp16.h>

struct ConvShape {
    int images, in_c, out_c, height, width;
    int total_c;  // channels of the tensor that is written
    int first_c;  // where this branch begins in it
};

template <int K>
__global__ void conv_relu(const __half* __restrict__ in, const __half* __restrict__ weight,
                          const __half* __restrict__ bias, __half* __restrict__ out, ConvShape s) {
    const int hw = s.height * s.width;
    const int total = s.images * s.out_c * hw;
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < total; t += blockDim.x * gridDim.x) {
        const int p = t % hw;
        const int o = t / hw % s.out_c;
        const int n = t / hw / s.out_c;
        const int y = p / s.width, x = p % s.width;

        float acc = __half2float(bias[o]);
        for (int c = 0; c < s.in_c; ++c) {
            const __half* plane = in + (size_t)(n * s.in_c + c) * hw;
            const __half* k = weight + (size_t)(o * s.in_c + c) * K * K;
#pragma unroll
            for (int i = 0; i < K; ++i) {
                const int yy = y + i - K / 2;
                if (yy < 0 || yy >= s.height) continue;
#pragma unroll
                for (int j = 0; j < K; ++j) {
                    const int xx = x + j - K / 2;
                    if (xx < 0 || xx >= s.width) continue;
                    acc += __half2float(plane[yy * s.width + xx]) * __half2float(k[i * K + j]);
                }
            }
        }
        out[(size_t)(n * s.total_c + s.first_c + o) * hw + p] = __float2half(fmaxf(acc, 0.f));
    }
}

__global__ void maxpool3_same(const __half* __restrict__ in, __half* __restrict__ out, int planes, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= width || y >= height || plane >= planes) return;
    const __half* src = in + (size_t)plane * height * width;
    float m = __half2float(src[y * width + x]);
    for (int yy = max(y - 1, 0); yy <= min(y + 1, height - 1); ++yy)
        for (int xx = max(x - 1, 0); xx <= min(x + 1, width - 1); ++xx) m = fmaxf(m, __half2float(src[yy * width + xx]));
    out[(size_t)plane * height * width + y * width + x] = __float2half(m);
}

static int grid_for(int total) {
    int g = (total + 255) / 256;
    return g < 2112 ? g : 2112;
}

void inception_piece(const __half* x, const __half* w1, const __half* b1, const __half* w2a, const __half* b2a,
                     const __half* w2b, const __half* b2b, const __half* w3, const __half* b3, __half* reduced,
                     __half* pooled, __half* out, int N, int C, int F1, int R, int F2, int F3, int H, int W) {
    const int all = F1 + F2 + F3;
    ConvShape s1{N, C, F1, H, W, all, 0};
    ConvShape s2a{N, C, R, H, W, R, 0};
    ConvShape s2b{N, R, F2, H, W, all, F1};
    ConvShape s3{N, C, F3, H, W, all, F1 + F2};

    conv_relu<1><<<grid_for(N * F1 * H * W), 256>>>(x, w1, b1, out, s1);
    conv_relu<1><<<grid_for(N * R * H * W), 256>>>(x, w2a, b2a, reduced, s2a);
    conv_relu<3><<<grid_for(N * F2 * H * W), 256>>>(reduced, w2b, b2b, out, s2b);
    maxpool3_same<<<dim3((W + 15) / 16, (H + 3) / 4, (N * C + 3) / 4), dim3(16, 4, 4)>>>(x, pooled, N * C, H, W);
    conv_relu<1><<<grid_for(N * F3 * H * W), 256>>>(pooled, w3, b3, out, s3);
}
