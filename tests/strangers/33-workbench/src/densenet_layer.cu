// One layer of a DenseNet block (without bottleneck): out = cat([x, conv3x3(relu(bn(x)))], dim=1), half precision,
// inference BN. `act` holds relu(bn(x)).
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TS 16
#define OCB 8      // output channels of a thread

__global__ void bn_relu_cat_kernel(const __half* __restrict__ x, const float* __restrict__ gamma,
                                   const float* __restrict__ beta, const float* __restrict__ mean,
                                   const float* __restrict__ var, __half* __restrict__ act, __half* __restrict__ out,
                                   int C, int growth, int HW, float eps)
{
    const int plane = blockIdx.x;            // n * C + c
    const int n = plane / C, c = plane % C;
    const float scale = gamma[c] * rsqrtf(var[c] + eps);
    const float shift = beta[c] - mean[c] * scale;
    const __half* src = x + (size_t)plane * HW;
    __half* a = act + (size_t)plane * HW;
    __half* o = out + ((size_t)n * (C + growth) + c) * HW;
    for (int i = threadIdx.x; i < HW; i += blockDim.x) {
        const __half v = src[i];
        o[i] = v;
        a[i] = __float2half(fmaxf(__half2float(v) * scale + shift, 0.f));
    }
}

__global__ void conv3x3_growth_kernel(const __half* __restrict__ act, const __half* __restrict__ w,
                                      __half* __restrict__ out, int C, int growth, int H, int W, int ocBlocks)
{
    __shared__ float tile[TS + 2][TS + 2];
    __shared__ float wt[OCB][9];

    const int n = blockIdx.z / ocBlocks;
    const int oc0 = (blockIdx.z % ocBlocks) * OCB;
    const int x0 = blockIdx.x * TS, y0 = blockIdx.y * TS;
    const int tid = threadIdx.y * TS + threadIdx.x;

    float acc[OCB];
#pragma unroll
    for (int k = 0; k < OCB; ++k) acc[k] = 0.f;

    for (int c = 0; c < C; ++c) {
        const __half* plane = act + ((size_t)n * C + c) * H * W;
        for (int i = tid; i < (TS + 2) * (TS + 2); i += TS * TS) {
            const int yy = y0 + i / (TS + 2) - 1, xx = x0 + i % (TS + 2) - 1;
            tile[i / (TS + 2)][i % (TS + 2)] =
                (yy >= 0 && yy < H && xx >= 0 && xx < W) ? __half2float(plane[(size_t)yy * W + xx]) : 0.f;
        }
        if (tid < OCB * 9) {
            const int oc = oc0 + tid / 9;
            wt[tid / 9][tid % 9] = oc < growth ? __half2float(w[((size_t)oc * C + c) * 9 + tid % 9]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 3; ++r)
#pragma unroll
            for (int s = 0; s < 3; ++s) {
                const float v = tile[threadIdx.y + r][threadIdx.x + s];
#pragma unroll
                for (int k = 0; k < OCB; ++k) acc[k] += v * wt[k][r * 3 + s];
            }
        __syncthreads();
    }

    const int ox = x0 + threadIdx.x, oy = y0 + threadIdx.y;
    if (ox >= W || oy >= H) return;
    for (int k = 0; k < OCB; ++k)
        if (oc0 + k < growth)
            out[(((size_t)n * (C + growth) + C + oc0 + k) * H + oy) * W + ox] = __float2half(acc[k]);
}

extern "C" void densenet_layer_half(const __half* x, const float* gamma, const float* beta, const float* mean,
                                    const float* var, const __half* w, __half* out, __half* act, int N, int C,
                                    int growth, int H, int W, float eps, cudaStream_t stream)
{
    if (N <= 0 || C <= 0 || growth <= 0 || H <= 0 || W <= 0) return;
    const int ocBlocks = (growth + OCB - 1) / OCB;
    if ((long long)N * ocBlocks > 65535 || (long long)N * C > 2147483647LL || (long long)H * W > 2147483000LL) return;
    bn_relu_cat_kernel<<<N * C, 256, 0, stream>>>(x, gamma, beta, mean, var, act, out, C, growth, H * W, eps);
    dim3 block(TS, TS);
    dim3 grid((W + TS - 1) / TS, (H + TS - 1) / TS, N * ocBlocks);
    conv3x3_growth_kernel<<<grid, block, 0, stream>>>(act, w, out, C, growth, H, W, ocBlocks);
}
