// logcumsumexp along the rows:  out[r][c] = log(exp(in[r][0]) + ... + exp(in[r][c]))
// A warp walks along a row, 32 columns at a time, with the running value in a register.

#include <math.h>

#define WARPS_PER_BLOCK 4

// log(exp(a) + exp(b)). Equal arguments are taken apart since inf - inf is not 0.
static __device__ float log_add_exp(float a, float b)
{
    if (isnan(a) || isnan(b))
        return a + b;
    float hi = fmaxf(a, b);
    float lo = fminf(a, b);
    if (hi == lo)
        return hi + 0.69314718f;
    return hi + log1pf(expf(lo - hi));
}

static __global__ void logcumsumexp_kernel(const float *in, float *out, int rows, int cols)
{
    const int lane = threadIdx.x;
    const int row = blockIdx.x * WARPS_PER_BLOCK + threadIdx.y;
    if (row >= rows)
        return;

    in += (size_t)row * cols;
    out += (size_t)row * cols;

    float carry = -INFINITY;
    for (int start = 0; start < cols; start += 32) {
        const int c = start + lane;
        float v = c < cols ? in[c] : -INFINITY;
        for (int d = 1; d < 32; d *= 2) {
            float left = __shfl_up_sync(0xffffffff, v, d);
            if (lane >= d)
                v = log_add_exp(left, v);
        }
        v = log_add_exp(carry, v);
        if (c < cols)
            out[c] = v;
        carry = __shfl_sync(0xffffffff, v, 31);
    }
}

extern "C" void logcumsumexp_rows(const float *in, float *out, int rows, int cols)
{
    dim3 block(32, WARPS_PER_BLOCK);
    logcumsumexp_kernel<<<(rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK, block>>>(in, out, rows, cols);
}
