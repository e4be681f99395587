// nn.Conv1d and nn.ConvTranspose1d, fp16 in and out, fp32 accumulation.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ---------------------------------------------------------------------------
// nn.Conv1d(C, OC, K, stride, padding, groups=groups)
// x: (N, C, L)   w: (OC, C / groups, K)   y: (N, OC, L_out)
// ---------------------------------------------------------------------------
__global__ void conv1d_grouped_kernel(const __half* __restrict__ x, const __half* __restrict__ w,
                                      const __half* __restrict__ bias, __half* __restrict__ y,
                                      int C, int L, int OC, int K, int stride, int pad, int groups, int L_out)
{
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int oc = blockIdx.y;
    int n = blockIdx.z;
    if (o >= L_out) return;

    int icg = C / groups;
    int ocg = OC / groups;
    int g = oc / ocg;

    float acc = 0.0f;
    for (int ic = 0; ic < icg; ++ic) {
        const __half* xrow = x + (n * C + g * icg + ic) * L;
        const __half* wrow = w + (oc * icg + ic) * K;
        for (int k = 0; k < K; ++k) {
            int i = o * stride - pad + k;
            if (i >= 0 && i < L)
                acc += __half2float(xrow[i]) * __half2float(wrow[k]);
        }
    }
    acc += __half2float(bias[oc]);
    y[(n * OC + oc) * L_out + o] = __float2half(acc);
}

extern "C" void conv1d_grouped_f16(const __half* x, const __half* w, const __half* bias, __half* y,
                                   int N, int C, int L, int OC, int K, int stride, int pad, int groups,
                                   cudaStream_t stream)
{
    int L_out = (L + 2 * pad - K) / stride + 1;
    dim3 block(128);
    dim3 grid((L_out + 127) / 128, OC, N);
    conv1d_grouped_kernel<<<grid, block, 0, stream>>>(x, w, bias, y, C, L, OC, K, stride, pad, groups, L_out);
}

// ---------------------------------------------------------------------------
// nn.ConvTranspose1d(IC, OC, K, stride, padding, dilation=dilation, bias=False)
// w: (IC, OC, K).  Every output looks for the inputs that would have hit it.
// ---------------------------------------------------------------------------
__global__ void convt1d_dilated_kernel(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int L,
                                       int K, int stride, int pad, int dilation, int L_out)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * OC * L_out) return;
    int o = idx % L_out;
    int oc = (idx / L_out) % OC;
    int n = idx / (L_out * OC);

    float sum = 0.f;
    for (int k = 0; k < K; k++) {
        int t = o + pad - k * dilation;
        if (t < 0 || t % stride != 0) continue;
        int i = t / stride;
        if (i >= L) continue;
        for (int ic = 0; ic < IC; ic++)
            sum += __half2float(x[(n * IC + ic) * L + i]) * __half2float(w[(ic * OC + oc) * K + k]);
    }
    y[idx] = __float2half(sum);
}

extern "C" void convt1d_dilated_f16(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int L, int K,
                                    int stride, int pad, int dilation, cudaStream_t stream)
{
    int L_out = (L - 1) * stride - 2 * pad + dilation * (K - 1) + 1;
    int total = N * OC * L_out;
    convt1d_dilated_kernel<<<(total + 255) / 256, 256, 0, stream>>>(x, w, y, N, IC, OC, L, K, stride, pad, dilation,
                                                                    L_out);
}

// ---------------------------------------------------------------------------
// The vocoder's upsampler: nn.ConvTranspose1d(IC, OC, 16, stride=8, padding=4).
// L_out = 8 * L.  With q = (o + 4) / 8 and r = (o + 4) % 8 an output only sees
// x[q] through tap r and x[q - 1] through tap r + 8, so a thread takes one q
// and makes all eight phases.  Taps of 32 input channels sit in shared memory.
// ---------------------------------------------------------------------------
#define UP 8
#define TAPS 16
#define IC_CHUNK 32

__global__ void __launch_bounds__(128)
convt1d_up8_kernel(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias,
                   __half* __restrict__ y, int IC, int OC, int L)
{
    __shared__ float taps[IC_CHUNK][TAPS];

    const int q = blockIdx.x * blockDim.x + threadIdx.x;   // 0 .. L
    const int oc = blockIdx.y;
    const int n = blockIdx.z;
    const __half* xn = x + (size_t)n * IC * L;

    float acc[UP];
#pragma unroll
    for (int r = 0; r < UP; ++r) acc[r] = 0.f;

    for (int c0 = 0; c0 < IC; c0 += IC_CHUNK) {
        for (int i = threadIdx.x; i < IC_CHUNK * TAPS; i += blockDim.x) {
            int c = c0 + i / TAPS;
            taps[i / TAPS][i % TAPS] = c < IC ? __half2float(w[((size_t)c * OC + oc) * TAPS + i % TAPS]) : 0.f;
        }
        __syncthreads();
        const int cend = min(IC_CHUNK, IC - c0);
        for (int c = 0; c < cend; ++c) {
            const __half* row = xn + (size_t)(c0 + c) * L;
            float cur = q < L ? __half2float(row[q]) : 0.f;
            float prev = (q >= 1 && q - 1 < L) ? __half2float(row[q - 1]) : 0.f;
#pragma unroll
            for (int r = 0; r < UP; ++r)
                acc[r] += cur * taps[c][r] + prev * taps[c][r + UP];
        }
        __syncthreads();
    }

    const float b = __half2float(bias[oc]);
    const int Lo = UP * L;
    __half* out = y + ((size_t)n * OC + oc) * Lo;
#pragma unroll
    for (int r = 0; r < UP; ++r) {
        int o = q * UP - UP / 2 + r;
        if (o >= 0 && o < Lo) out[o] = __float2half(acc[r] + b);
    }
}

extern "C" void convt1d_up8_f16(const __half* x, const __half* w, const __half* bias, __half* y, int N, int IC, int OC,
                                int L, cudaStream_t stream)
{
    dim3 grid((L + 1 + 127) / 128, OC, N);
    convt1d_up8_kernel<<<grid, 128, 0, stream>>>(x, w, bias, y, IC, OC, L);
}
