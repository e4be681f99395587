#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Fully connected layer with optional ReLU, one thread per output element.
// weight is stored as [in_features, out_features] so that neighbouring threads read neighbouring elements.
__global__ void fc_kernel(
    const __half* __restrict__ input,
    const __half* __restrict__ weight,
    const __half* __restrict__ bias,
    __half* __restrict__ output,
    int batch_size, int in_features, int out_features, bool apply_relu)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (row < batch_size && col < out_features) {
        float acc = 0.0f;
        for (int i = 0; i < in_features; i++) {
            acc += __half2float(input[row * in_features + i]) * __half2float(weight[i * out_features + col]);
        }
        acc += __half2float(bias[col]);
        if (apply_relu) {
            acc = fmaxf(acc, 0.0f);
        }
        output[row * out_features + col] = __float2half(acc);
    }
}

static void launch_fc(const __half* in, const __half* w, const __half* b, __half* out,
                      int batch_size, int in_features, int out_features, bool relu)
{
    dim3 block(16, 16);
    dim3 grid((out_features + block.x - 1) / block.x, (batch_size + block.y - 1) / block.y);
    fc_kernel<<<grid, block>>>(in, w, b, out, batch_size, in_features, out_features, relu);
}

extern "C" void mlp3_forward(
    const __half* x,
    const __half* w1, const __half* b1,
    const __half* w2, const __half* b2,
    const __half* w3, const __half* b3,
    __half* hidden1, __half* hidden2, __half* out,
    int batch_size, int input_size, int hidden_size1, int hidden_size2, int output_size)
{
    launch_fc(x, w1, b1, hidden1, batch_size, input_size, hidden_size1, true);
    launch_fc(hidden1, w2, b2, hidden2, batch_size, hidden_size1, hidden_size2, true);
    launch_fc(hidden2, w3, b3, out, batch_size, hidden_size2, output_size, false);
}
