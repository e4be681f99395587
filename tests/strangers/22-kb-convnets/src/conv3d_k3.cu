#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kb {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <int KS>
__global__ void conv3d_fwd(const __half* __restrict__ in, const __half* __restrict__ filt,
                           __half* __restrict__ out,
                           int N, int C, int D, int H, int W, int K, int pad,
                           int OD, int OH, int OW) {
    const int ow = blockIdx.x * kBlockX + threadIdx.x;
    const int oh = blockIdx.y * kBlockY + threadIdx.y;
    int z = blockIdx.z;
    const int od = z % OD;
    z /= OD;
    const int k = z % K;
    const int n = z / K;

    if (ow >= OW || oh >= OH) return;

    float acc = 0.0f;
    for (int c = 0; c < C; ++c) {
        const __half* ip = in + (size_t)(n * C + c) * D * H * W;
        const __half* fp = filt + (size_t)(k * C + c) * KS * KS * KS;
#pragma unroll
        for (int kd = 0; kd < KS; ++kd) {
            const int id = od + kd - pad;
            if (id < 0 || id >= D) continue;
#pragma unroll
            for (int kh = 0; kh < KS; ++kh) {
                const int ih = oh + kh - pad;
                if (ih < 0 || ih >= H) continue;
#pragma unroll
                for (int kw = 0; kw < KS; ++kw) {
                    const int iw = ow + kw - pad;
                    if (iw < 0 || iw >= W) continue;
                    acc = fmaf(__half2float(ip[(id * H + ih) * W + iw]),
                               __half2float(fp[(kd * KS + kh) * KS + kw]), acc);
                }
            }
        }
    }
    out[(((size_t)(n * K + k) * OD + od) * OH + oh) * OW + ow] = __float2half_rn(acc);
}

}  // namespace kb

void conv3d_k3_forward(const __half* in, const __half* filt, __half* out,
                       int N, int C, int D, int H, int W, int K, int pad) {
    constexpr int KS = 3;
    const int OD = D + 2 * pad - KS + 1;
    const int OH = H + 2 * pad - KS + 1;
    const int OW = W + 2 * pad - KS + 1;
    dim3 block(kb::kBlockX, kb::kBlockY);
    dim3 grid((OW + kb::kBlockX - 1) / kb::kBlockX, (OH + kb::kBlockY - 1) / kb::kBlockY, N * K * OD);
    kb::conv3d_fwd<KS><<<grid, block>>>(in, filt, out, N, C, D, H, W, K, pad, OD, OH, OW);
}
