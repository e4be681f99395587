#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Running maximum along the middle axis of outer x len x inner, with where it was reached (the last of equal ones).
__global__ void cummax_mid_axis(const half* __restrict__ x, half* __restrict__ values, int* __restrict__ indices,
                                int outer, int len, int inner)
{
    const int lane = blockIdx.x * blockDim.x + threadIdx.x;
    if (lane >= outer * inner) return;
    const int o = lane / inner;
    const int i = lane - o * inner;

    size_t at = (size_t)o * len * inner + i;
    half best = x[at];
    int where = 0;
    for (int t = 0; t < len; t++, at += inner) {
        const half v = x[at];
        if (__hge(v, best)) {
            best = v;
            where = t;
        }
        values[at] = best;
        indices[at] = where;
    }
}

void cummax_f16(const half* x, half* values, int* indices, int outer, int len, int inner)
{
    const int lanes = outer * inner;
    if (lanes == 0 || len == 0) return;
    cummax_mid_axis<<<(lanes + 127) / 128, 128>>>(x, values, indices, outer, len, inner);
}
