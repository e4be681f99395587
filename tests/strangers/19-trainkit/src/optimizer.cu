#include "../include/trainkit.cuh"

namespace trainkit {

template <typename TGrad>
struct adamw {
    float* param;
    float* m;
    float* v;
    const TGrad* grad;
    float lr, beta1, beta2, eps, decay, correction1, correction2;

    __device__ void operator()(int64_t i) const {
        const float g = load(grad + i);
        const float m1 = beta1 * m[i] + (1.0f - beta1) * g;
        const float v1 = beta2 * v[i] + (1.0f - beta2) * g * g;
        m[i] = m1;
        v[i] = v1;
        const float mhat = m1 / correction1;
        const float vhat = v1 / correction2;
        param[i] -= lr * (mhat / (sqrtf(vhat) + eps) + decay * param[i]);
    }
};

// ---- clipping by the global norm ----

template <typename T, int BLOCK>
__global__ void squared_norm_kernel(float* partial, const T* grad, int64_t n) {
    float sum = 0.0f;
    for (int64_t i = blockIdx.x * int64_t(BLOCK) + threadIdx.x; i < n; i += int64_t(gridDim.x) * BLOCK) {
        const float g = load(grad + i);
        sum += g * g;
    }
    sum = block_reduce<BLOCK, add_op>(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void finish_norm_kernel(float* norm, const float* partial, int count) {
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) sum += partial[i];
    *norm = sqrtf(sum);
}

template <typename T>
struct clip {
    T* grad;
    const float* norm;
    float max_norm;

    __device__ void operator()(int64_t i) const {
        const float scale = fminf(max_norm / (*norm + 1e-6f), 1.0f);
        store(grad + i, load(grad + i) * scale);
    }
};

}  // namespace trainkit

void adamw_step(cudaStream_t stream, float* param, float* m, float* v, const __nv_bfloat16* grad, int64_t n, float lr,
                float beta1, float beta2, float eps, float decay, float correction1, float correction2) {
    trainkit::adamw<__nv_bfloat16> step{param, m, v, grad, lr, beta1, beta2, eps, decay, correction1, correction2};
    trainkit::for_each(stream, n, step);
}

// partial has room for 1024 floats
void clip_grad_norm(cudaStream_t stream, float* grad, float* norm, float* partial, int64_t n, float max_norm) {
    const int blocks = static_cast<int>((n + 1023) / 1024 < 1024 ? (n + 1023) / 1024 : 1024);
    trainkit::squared_norm_kernel<float, 256><<<blocks, 256, 0, stream>>>(partial, grad, n);
    trainkit::finish_norm_kernel<<<1, 1, 0, stream>>>(norm, partial, blocks);
    trainkit::for_each(stream, n, trainkit::clip<float>{grad, norm, max_norm});
}
