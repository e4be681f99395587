// torch.argmin(x, dim=1) for x of shape (batch, dim1, dim2). Indices are int64 as in PyTorch.
#include <cuda_runtime.h>

__global__ void argmin_dim1_kernel(const float* __restrict__ x, long long* __restrict__ out, int batch, int dim1,
                                   int dim2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * dim2) return;
    int b = i / dim2;
    int c = i % dim2;
    const float* p = x + (size_t)b * dim1 * dim2 + c;

    float best = p[0];
    int best_idx = 0;
    for (int r = 1; r < dim1; ++r) {
        float v = p[(size_t)r * dim2];
        if (v < best) {
            best = v;
            best_idx = r;
        }
    }
    out[i] = best_idx;
}

void argmin_dim1(const float* x, long long* out, int batch, int dim1, int dim2)
{
    if (batch <= 0 || dim1 <= 0 || dim2 <= 0) return;
    if ((long long)batch * dim2 > 0x7fffff00LL) return;
    int n = batch * dim2;
    argmin_dim1_kernel<<<(n + 255) / 256, 256>>>(x, out, batch, dim1, dim2);
}
