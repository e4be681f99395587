// ReLU self attention: y = relu(mask(q k^T * scale)) v, no softmax. Masked scores become zero.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void relu_scores(const half* q, const half* k, half* att, int T, int D, float scale) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int bh = blockIdx.z;
    if (i >= T || j >= T) return;

    float s = 0.0f;
    if (j <= i) {
        const half* qi = q + ((size_t)bh * T + i) * D;
        const half* kj = k + ((size_t)bh * T + j) * D;
        for (int d = 0; d < D; d++) s += __half2float(qi[d]) * __half2float(kj[d]);
        s = fmaxf(s * scale, 0.0f);
    }
    att[((size_t)bh * T + i) * T + j] = __float2half(s);
}

__global__ void weighted_values(const half* att, const half* v, half* y, int T, int D) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int bh = blockIdx.z;
    if (i >= T || d >= D) return;

    float s = 0.0f;
    for (int j = 0; j < T; j++) {
        s += __half2float(att[((size_t)bh * T + i) * T + j]) * __half2float(v[((size_t)bh * T + j) * D + d]);
    }
    y[((size_t)bh * T + i) * D + d] = __float2half(s);
}

void relu_self_attention(const half* q, const half* k, const half* v, half* att, half* y, int batch, int heads, int T, int D,
                         float scale, cudaStream_t stream = 0) {
    dim3 block(16, 16);
    int bh = batch * heads;
    relu_scores<<<dim3((T + 15) / 16, (T + 15) / 16, bh), block, 0, stream>>>(q, k, att, T, D, scale);
    weighted_values<<<dim3((D + 15) / 16, (T + 15) / 16, bh), block, 0, stream>>>(att, v, y, T, D);
}
