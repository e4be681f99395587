// Elman RNN over a short sequence: h_t = tanh(W_ih x_t + W_hh h_{t-1} + b). All hidden states are returned.
#include <cuda_runtime.h>

// One warp per hidden unit and batch element.
__global__ void rnn_step(const float* __restrict__ x_t, const float* __restrict__ h_prev, const float* __restrict__ w_ih,
                         const float* __restrict__ w_hh, const float* __restrict__ bias, float* __restrict__ h_out, int batch,
                         int input_size, int hidden_size) {
    const int warp_id = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x & 31;
    if (warp_id >= batch * hidden_size) return;
    const int b = warp_id / hidden_size;
    const int j = warp_id % hidden_size;

    float sum = 0.f;
    for (int i = lane; i < input_size; i += 32) sum += w_ih[(size_t)j * input_size + i] * x_t[(size_t)b * input_size + i];
    for (int i = lane; i < hidden_size; i += 32) sum += w_hh[(size_t)j * hidden_size + i] * h_prev[(size_t)b * hidden_size + i];

    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) h_out[(size_t)b * hidden_size + j] = tanhf(sum + bias[j]);
}

void rnn_forward(const float* x, const float* h0, const float* w_ih, const float* w_hh, const float* bias, float* hs, int steps,
                 int batch, int input_size, int hidden_size, cudaStream_t stream = 0) {
    const int warps_per_block = 8;
    const int blocks = (batch * hidden_size + warps_per_block - 1) / warps_per_block;
    const float* prev = h0;
    for (int t = 0; t < steps; ++t) {
        float* next = hs + (size_t)t * batch * hidden_size;
        rnn_step<<<blocks, warps_per_block * 32, 0, stream>>>(x + (size_t)t * batch * input_size, prev, w_ih, w_hh, bias, next,
                                                              batch, input_size, hidden_size);
        prev = next;
    }
}
