#include "../include/trainkit.cuh"

namespace trainkit {

template <typename T, int BLOCK>
__global__ void layernorm_forward_kernel(T* y, float* mean_out, float* rstd_out, const T* x, const float* gamma,
                                         const float* beta, int cols, float eps) {
    const int64_t row = blockIdx.x;
    const T* in = x + row * cols;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += load(in + c);
    const float mean = block_reduce<BLOCK, add_op>(sum) / cols;
    float var = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float d = load(in + c) - mean;
        var += d * d;
    }
    var = block_reduce<BLOCK, add_op>(var) / cols;
    const float rstd = 1.0f / sqrtf(var + eps);
    for (int c = threadIdx.x; c < cols; c += BLOCK)
        store(y + row * cols + c, (load(in + c) - mean) * rstd * gamma[c] + beta[c]);
    if (threadIdx.x == 0) {
        mean_out[row] = mean;
        rstd_out[row] = rstd;
    }
}

// dx = rstd * (g - mean(g) - xhat * mean(g * xhat)), where g = dy * gamma
template <typename T, int BLOCK>
__global__ void layernorm_backward_input_kernel(T* dx, const T* dy, const T* x, const float* gamma, const float* mean,
                                                const float* rstd, int cols) {
    const int64_t row = blockIdx.x;
    const float m = mean[row], r = rstd[row];
    float s1 = 0.0f, s2 = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float g = load(dy + row * cols + c) * gamma[c];
        const float xhat = (load(x + row * cols + c) - m) * r;
        s1 += g;
        s2 += g * xhat;
    }
    s1 = block_reduce<BLOCK, add_op>(s1) / cols;
    s2 = block_reduce<BLOCK, add_op>(s2) / cols;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float g = load(dy + row * cols + c) * gamma[c];
        const float xhat = (load(x + row * cols + c) - m) * r;
        store(dx + row * cols + c, r * (g - s1 - xhat * s2));
    }
}

// a thread for each column
template <typename T>
__global__ void layernorm_backward_weight_kernel(float* dgamma, float* dbeta, const T* dy, const T* x, const float* mean,
                                                 const float* rstd, int rows, int cols) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float dg = 0.0f, db = 0.0f;
    for (int64_t row = 0; row < rows; ++row) {
        const float d = load(dy + row * cols + c);
        dg += d * (load(x + row * cols + c) - mean[row]) * rstd[row];
        db += d;
    }
    dgamma[c] = dg;
    dbeta[c] = db;
}

}  // namespace trainkit

void layernorm_forward_bf16(cudaStream_t stream, __nv_bfloat16* y, float* mean, float* rstd, const __nv_bfloat16* x,
                            const float* gamma, const float* beta, int rows, int cols, float eps) {
    trainkit::layernorm_forward_kernel<__nv_bfloat16, 128>
        <<<rows, 128, 0, stream>>>(y, mean, rstd, x, gamma, beta, cols, eps);
}

void layernorm_backward_f32(cudaStream_t stream, float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                            const float* gamma, const float* mean, const float* rstd, int rows, int cols) {
    trainkit::layernorm_backward_input_kernel<float, 256>
        <<<rows, 256, 0, stream>>>(dx, dy, x, gamma, mean, rstd, cols);
    trainkit::layernorm_backward_weight_kernel<float>
        <<<(cols + 63) / 64, 64, 0, stream>>>(dgamma, dbeta, dy, x, mean, rstd, rows, cols);
}
