#include "../include/trainkit.cuh"

namespace trainkit {

template <typename T>
struct gelu_backward {
    T* dx;
    const T* dy;
    const T* x;

    __device__ void operator()(int64_t i) const {
        const float v = load(x + i);
        const float cdf = 0.5f * (1.0f + erff(v * 0.7071067811865476f));
        const float pdf = 0.3989422804014327f * expf(-0.5f * v * v);
        store(dx + i, load(dy + i) * (cdf + v * pdf));
    }
};

// sums over the rows of a matrix; a block of (32, 8) for 32 columns
template <typename T>
__global__ void column_sum_kernel(float* out, const T* in, int rows, int cols) {
    __shared__ float tile[8][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (c < cols) {
        for (int r = threadIdx.y; r < rows; r += 8) sum += load(in + static_cast<int64_t>(r) * cols + c);
    }
    tile[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int i = 1; i < 8; ++i) sum += tile[i][threadIdx.x];
        out[c] = sum;
    }
}

template <typename T>
__global__ void embedding_backward_kernel(float* dweight, const T* dout, const int* ids, int dim) {
    const int64_t token = blockIdx.x;
    float* row = dweight + static_cast<int64_t>(ids[token]) * dim;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) atomicAdd(row + i, load(dout + token * dim + i));
}

// ds = p * (g - sum(p * g)), where g is dp behind the dropout that was applied to p
template <typename T, int BLOCK>
__global__ void softmax_dropout_backward_kernel(T* ds, const T* dp, const T* p, const uint8_t* mask, int cols,
                                                float keep_scale) {
    const int64_t base = static_cast<int64_t>(blockIdx.x) * cols;
    float dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float g = mask[base + c] ? load(dp + base + c) * keep_scale : 0.0f;
        dot += g * load(p + base + c);
    }
    dot = block_reduce<BLOCK, add_op>(dot);
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
        const float g = mask[base + c] ? load(dp + base + c) * keep_scale : 0.0f;
        store(ds + base + c, load(p + base + c) * (g - dot));
    }
}

}  // namespace trainkit

// gradient through y = gelu(x), x = ... + bias
void gelu_bias_backward(cudaStream_t stream, __half* dx, float* dbias, const __half* dy, const __half* x, int rows, int cols) {
    trainkit::for_each(stream, static_cast<int64_t>(rows) * cols, trainkit::gelu_backward<__half>{dx, dy, x});
    trainkit::column_sum_kernel<__half><<<(cols + 31) / 32, dim3(32, 8), 0, stream>>>(dbias, dx, rows, cols);
}

void embedding_backward(cudaStream_t stream, float* dweight, const __nv_bfloat16* dout, const int* ids, int tokens,
                        int vocab, int dim) {
    cudaMemsetAsync(dweight, 0, sizeof(float) * static_cast<size_t>(vocab) * dim, stream);
    trainkit::embedding_backward_kernel<__nv_bfloat16><<<tokens, 128, 0, stream>>>(dweight, dout, ids, dim);
}

void softmax_dropout_backward(cudaStream_t stream, __half* ds, const __half* dp, const __half* p, const uint8_t* mask,
                              int rows, int cols, float keep_scale) {
    trainkit::softmax_dropout_backward_kernel<__half, 64><<<rows, 64, 0, stream>>>(ds, dp, p, mask, cols, keep_scale);
}
