#include "../include/trainkit.cuh"

namespace trainkit {

// The loss of each row, and the gradient of the mean loss with respect to the logits.
template <typename T, int BLOCK>
__global__ void cross_entropy_kernel(float* losses, T* dlogits, const T* logits, const int64_t* targets, int classes,
                                     float grad_scale) {
    const int64_t row = blockIdx.x;
    const T* in = logits + row * classes;
    float m = max_op::identity();
    for (int c = threadIdx.x; c < classes; c += BLOCK) m = max_op()(m, load(in + c));
    m = block_reduce<BLOCK, max_op>(m);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < classes; c += BLOCK) sum += expf(load(in + c) - m);
    sum = block_reduce<BLOCK, add_op>(sum);
    const int64_t target = targets[row];
    for (int c = threadIdx.x; c < classes; c += BLOCK) {
        const float p = expf(load(in + c) - m) / sum;
        store(dlogits + row * classes + c, (p - (c == target ? 1.0f : 0.0f)) * grad_scale);
    }
    if (threadIdx.x == 0) losses[row] = logf(sum) + m - load(in + target);
}

}  // namespace trainkit

void cross_entropy_forward_backward(cudaStream_t stream, float* losses, __nv_bfloat16* dlogits,
                                    const __nv_bfloat16* logits, const int64_t* targets, int rows, int classes,
                                    float grad_scale) {
    using T = __nv_bfloat16;
    trainkit::cross_entropy_kernel<T, 512><<<rows, 512, 0, stream>>>(losses, dlogits, logits, targets, classes, grad_scale);
}
