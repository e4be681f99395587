#include <climits>
#include <cuda_runtime.h>

// torch.min(x, dim=1) for int32 tensors of shape (outer, dim, inner): values and indices.
// On ties the first index wins.
__global__ void min_dim1(const int* x, int* values, long long* indices, int outer, int dim, int inner) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= outer * inner) return;
    int o = t / inner;
    int i = t % inner;

    int best = INT_MAX;
    int where = 0;
    for (int d = 0; d < dim; d++) {
        int v = x[((long long)o * dim + d) * inner + i];
        if (v < best) {
            best = v;
            where = d;
        }
    }
    values[t] = best;
    indices[t] = where;
}

void min_over_dim1(const int* x, int* values, long long* indices, int outer, int dim, int inner, cudaStream_t stream = 0) {
    int n = outer * inner;
    min_dim1<<<(n + 127) / 128, 128, 0, stream>>>(x, values, indices, outer, dim, inner);
}
