#include "common.cuh"
#include <stdint.h>

// torch.argmax(x, dim=1) for x of shape (batch, dim1, dim2). Lowest index wins ties.
// One thread per output, neighbouring threads are neighbouring dim2.
__global__ void argmax_dim1_kernel(const __half* __restrict__ x, int64_t* __restrict__ out,
                                   int batch, int dim1, int dim2)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch * dim2) return;
    int b = t / dim2;
    int k = t - b * dim2;

    const __half* col = x + (size_t)b * dim1 * dim2 + k;
    float best = to_f(col[0]);
    int where = 0;
    for (int j = 1; j < dim1; ++j) {
        float v = to_f(col[(size_t)j * dim2]);
        if (v > best) { best = v; where = j; }
    }
    out[t] = where;
}

void argmax_dim1(const __half* x, int64_t* out, int batch, int dim1, int dim2)
{
    int n = batch * dim2;
    argmax_dim1_kernel<<<CEIL_DIV(n, 128), 128>>>(x, out, batch, dim1, dim2);
    CHECK_LAUNCH();
}
