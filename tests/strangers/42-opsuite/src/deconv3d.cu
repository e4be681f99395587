// ConvTranspose3d with cubic kernel, stride, padding and output padding. Gather form: each thread asks which input
// voxels reach its output voxel.
#include <cuda_fp16.h>

typedef long long ll;

__device__ __forceinline__ bool source(int o, int k, int stride, int pad, int extent, int& i) {
    int t = o + pad - k;
    if (t < 0 || t % stride != 0) return false;
    i = t / stride;
    return i < extent;
}

__global__ void deconv3d_gather(const __half* __restrict__ x, const __half* __restrict__ w,
                                const __half* __restrict__ bias, __half* __restrict__ y, int N, int Ci, int Co, int D,
                                int H, int W, int K, int S, int P, int OD, int OH, int OW) {
    const ll total = (ll)N * Co * OD * OH * OW;
    for (ll idx = blockIdx.x * (ll)blockDim.x + threadIdx.x; idx < total; idx += (ll)gridDim.x * blockDim.x) {
        ll r = idx;
        const int ow = (int)(r % OW); r /= OW;
        const int oh = (int)(r % OH); r /= OH;
        const int od = (int)(r % OD); r /= OD;
        const int co = (int)(r % Co);
        const int n = (int)(r / Co);

        float acc = __half2float(bias[co]);
        for (int kd = 0; kd < K; ++kd) {
            int id;
            if (!source(od, kd, S, P, D, id)) continue;
            for (int kh = 0; kh < K; ++kh) {
                int ih;
                if (!source(oh, kh, S, P, H, ih)) continue;
                for (int kw = 0; kw < K; ++kw) {
                    int iw;
                    if (!source(ow, kw, S, P, W, iw)) continue;
                    for (int ci = 0; ci < Ci; ++ci) {
                        const float xv = __half2float(x[((((ll)n * Ci + ci) * D + id) * H + ih) * W + iw]);
                        const float wv = __half2float(w[((((ll)ci * Co + co) * K + kd) * K + kh) * K + kw]);
                        acc = fmaf(xv, wv, acc);
                    }
                }
            }
        }
        y[idx] = __float2half(acc);
    }
}

void conv_transpose3d_forward(const __half* x, const __half* w, const __half* bias, __half* y, int N, int Ci, int Co,
                              int D, int H, int W, int K, int S, int P, int OP) {
    const int OD = (D - 1) * S - 2 * P + K + OP;
    const int OH = (H - 1) * S - 2 * P + K + OP;
    const int OW = (W - 1) * S - 2 * P + K + OP;
    const ll total = (ll)N * Co * OD * OH * OW;
    const int block = 256;
    ll want = (total + block - 1) / block;
    int grid = want > 16384 ? 16384 : (int)want;
    deconv3d_gather<<<grid, block>>>(x, w, bias, y, N, Ci, Co, D, H, W, K, S, P, OD, OH, OW);
}
