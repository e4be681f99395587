// log_softmax(x, dim=1) of a (batch, classes, length) tensor. A thread walks down its own column.
#include <cuda_fp16.h>
#include <math.h>

__global__ void log_softmax_columns(__half* out, const __half* in, int classes, int length) {
    const int l = threadIdx.x + blockIdx.x * blockDim.x;
    if (l >= length) return;
    const size_t first = (size_t)blockIdx.y * classes * length + l;

    float top = -INFINITY;
    for (int c = 0; c < classes; c++) top = fmaxf(top, __half2float(in[first + (size_t)c * length]));

    float denom = 0.0f;
    for (int c = 0; c < classes; c++) denom += expf(__half2float(in[first + (size_t)c * length]) - top);

    const float shift = top + logf(denom);
    for (int c = 0; c < classes; c++) {
        const size_t at = first + (size_t)c * length;
        out[at] = __float2half(__half2float(in[at]) - shift);
    }
}

void log_softmax_dim1(__half* out, const __half* in, int batch, int classes, int length) {
    log_softmax_columns<<<dim3((length + 255) / 256, batch), 256>>>(out, in, classes, length);
}
