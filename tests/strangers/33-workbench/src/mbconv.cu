// MBConv of EfficientNet with squeeze and excitation, inference, BN folded into scale and shift:
//   expand 1x1 + bn + silu -> depthwise 5x5 (stride) + bn + silu -> SE -> project 1x1 + bn (+ x)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float silu(float v) { return v / (1.f + __expf(-v)); }
__device__ __forceinline__ float sigmoidf(float v) { return 1.f / (1.f + __expf(-v)); }

__global__ void expand_kernel(const half* x, const half* w, const float* scale, const float* shift, half* e, int CI,
                              int CE, int HW)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int ce = blockIdx.y;
    int n = blockIdx.z;
    if (p >= HW) return;
    float acc = 0.f;
    for (int c = 0; c < CI; c++)
        acc += __half2float(x[((size_t)n * CI + c) * HW + p]) * __half2float(w[(size_t)ce * CI + c]);
    e[((size_t)n * CE + ce) * HW + p] = __float2half(silu(acc * scale[ce] + shift[ce]));
}

__global__ void depthwise5x5_kernel(const half* e, const half* w, const float* scale, const float* shift, half* d,
                                    int CE, int H, int W, int OH, int OW, int stride)
{
    __shared__ float k[25];
    int plane = blockIdx.y;
    int c = plane % CE;
    if (threadIdx.x < 25) k[threadIdx.x] = __half2float(w[c * 25 + threadIdx.x]);
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= OH * OW) return;
    int oy = p / OW, ox = p % OW;
    const half* src = e + (size_t)plane * H * W;
    float acc = 0.f;
    for (int i = 0; i < 5; i++) {
        int y = oy * stride + i - 2;
        if (y < 0 || y >= H) continue;
        for (int j = 0; j < 5; j++) {
            int x = ox * stride + j - 2;
            if (x < 0 || x >= W) continue;
            acc += __half2float(src[y * W + x]) * k[i * 5 + j];
        }
    }
    d[(size_t)plane * OH * OW + p] = __float2half(silu(acc * scale[c] + shift[c]));
}

__global__ void squeeze_kernel(const half* d, float* pooled, int OHW)
{
    __shared__ float red[128];
    const half* src = d + (size_t)blockIdx.x * OHW;
    float s = 0.f;
    for (int i = threadIdx.x; i < OHW; i += 128) s += __half2float(src[i]);
    red[threadIdx.x] = s;
    __syncthreads();
    for (int t = 64; t > 0; t >>= 1) {
        if (threadIdx.x < t) red[threadIdx.x] += red[threadIdx.x + t];
        __syncthreads();
    }
    if (threadIdx.x == 0) pooled[blockIdx.x] = red[0] / OHW;
}

// a block per image; the reduced vector stays in shared memory
__global__ void excite_kernel(const float* pooled, const half* w_red, const half* b_red, const half* w_exp,
                              const half* b_exp, float* gate, int CE, int R)
{
    extern __shared__ float reduced[];
    const float* p = pooled + (size_t)blockIdx.x * CE;
    for (int r = threadIdx.x; r < R; r += blockDim.x) {
        float acc = __half2float(b_red[r]);
        for (int c = 0; c < CE; c++) acc += p[c] * __half2float(w_red[(size_t)r * CE + c]);
        reduced[r] = silu(acc);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < CE; c += blockDim.x) {
        float acc = __half2float(b_exp[c]);
        for (int r = 0; r < R; r++) acc += reduced[r] * __half2float(w_exp[(size_t)c * R + r]);
        gate[(size_t)blockIdx.x * CE + c] = sigmoidf(acc);
    }
}

__global__ void project_kernel(const half* d, const float* gate, const half* w, const float* scale, const float* shift,
                               const half* residual, half* out, int CE, int CO, int OHW)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int co = blockIdx.y;
    int n = blockIdx.z;
    if (p >= OHW) return;
    float acc = 0.f;
    for (int c = 0; c < CE; c++)
        acc += __half2float(d[((size_t)n * CE + c) * OHW + p]) * gate[(size_t)n * CE + c] *
               __half2float(w[(size_t)co * CE + c]);
    float v = acc * scale[co] + shift[co];
    size_t o = ((size_t)n * CO + co) * OHW + p;
    if (residual) v += __half2float(residual[o]);
    out[o] = __float2half(v);
}

extern "C" void mbconv_forward(const half* x, const half* w_expand, const float* scale1, const float* shift1,
                               const half* w_dw, const float* scale2, const float* shift2, const half* w_red,
                               const half* b_red, const half* w_exp, const half* b_exp, const half* w_project,
                               const float* scale3, const float* shift3, half* out, half* ws_expand, half* ws_dw,
                               float* ws_pooled, float* ws_gate, int N, int CI, int CE, int R, int CO, int H, int W,
                               int stride, cudaStream_t stream)
{
    if (N <= 0 || CI <= 0 || CE <= 0 || R <= 0 || CO <= 0 || H <= 0 || W <= 0 || stride <= 0) return;
    if ((long long)N * CE > 65535 || CO > 65535 || R > 4096 || (long long)H * W > (1 << 28)) return;
    const int OH = (H - 1) / stride + 1, OW = (W - 1) / stride + 1;
    const int HW = H * W, OHW = OH * OW;
    expand_kernel<<<dim3((HW + 127) / 128, CE, N), 128, 0, stream>>>(x, w_expand, scale1, shift1, ws_expand, CI, CE,
                                                                     HW);
    depthwise5x5_kernel<<<dim3((OHW + 127) / 128, N * CE), 128, 0, stream>>>(ws_expand, w_dw, scale2, shift2, ws_dw,
                                                                             CE, H, W, OH, OW, stride);
    squeeze_kernel<<<N * CE, 128, 0, stream>>>(ws_dw, ws_pooled, OHW);
    excite_kernel<<<N, 128, R * sizeof(float), stream>>>(ws_pooled, w_red, b_red, w_exp, b_exp, ws_gate, CE, R);
    const bool skip = stride == 1 && CI == CO;
    project_kernel<<<dim3((OHW + 127) / 128, CO, N), 128, 0, stream>>>(ws_dw, ws_gate, w_project, scale3, shift3,
                                                                       skip ? x : nullptr, out, CE, CO, OHW);
}
