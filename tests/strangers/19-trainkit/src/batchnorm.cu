#include "../include/trainkit.cuh"

namespace trainkit {

// NCHW; a block for each channel
template <typename T, int BLOCK>
__global__ void batchnorm_statistics_kernel(float* mean_out, float* invstd_out, float* running_mean, float* running_var,
                                            const T* x, int batch, int channels, int spatial, float momentum, float eps) {
    const int c = blockIdx.x;
    const int64_t count = static_cast<int64_t>(batch) * spatial;
    auto at = [&](int64_t i) {
        const int64_t n = i / spatial, s = i % spatial;
        return load(x + (n * channels + c) * spatial + s);
    };
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < count; i += BLOCK) sum += at(i);
    const float mean = block_reduce<BLOCK, add_op>(sum) / count;
    float sq = 0.0f;
    for (int64_t i = threadIdx.x; i < count; i += BLOCK) {
        const float d = at(i) - mean;
        sq += d * d;
    }
    sq = block_reduce<BLOCK, add_op>(sq);
    if (threadIdx.x == 0) {
        mean_out[c] = mean;
        invstd_out[c] = rsqrtf(sq / count + eps);
        running_mean[c] = (1.0f - momentum) * running_mean[c] + momentum * mean;
        running_var[c] = (1.0f - momentum) * running_var[c] + momentum * (sq / (count - 1));
    }
}

}  // namespace trainkit

void batchnorm_statistics(cudaStream_t stream, float* mean, float* invstd, float* running_mean, float* running_var,
                          const float* x, int batch, int channels, int spatial, float momentum, float eps) {
    trainkit::batchnorm_statistics_kernel<float, 256><<<channels, 256, 0, stream>>>(
        mean, invstd, running_mean, running_var, x, batch, channels, spatial, momentum, eps);
}
