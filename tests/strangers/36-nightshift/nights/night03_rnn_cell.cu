// night 3: one step of a vanilla RNN with its output layer
//   h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
//   y  = W_ho h' + b_ho
// A warp makes one output: lanes go along the weights' rows, so the loads are coalesced.
#include <cuda_runtime.h>

static const int WARPS_PER_BLOCK = 8;

__device__ __forceinline__ float warp_sum(float v)
{
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}

__device__ __forceinline__ float lane_dot(const float* a, const float* b, int n, int lane)
{
    float s = 0.0f;
    for (int i = lane; i < n; i += 32) s += a[i] * b[i];
    return s;
}

__global__ void hidden_kernel(const float* x, const float* h, const float* w_ih, const float* b_ih, const float* w_hh,
                              const float* b_hh, float* h_new, int n_in, int n_hid)
{
    const int lane = threadIdx.x & 31;
    const int unit = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    const int b = blockIdx.y;
    if (unit >= n_hid) return;

    float s = lane_dot(w_ih + (size_t)unit * n_in, x + (size_t)b * n_in, n_in, lane);
    s += lane_dot(w_hh + (size_t)unit * n_hid, h + (size_t)b * n_hid, n_hid, lane);
    s = warp_sum(s);
    if (lane == 0) h_new[(size_t)b * n_hid + unit] = tanhf(s + b_ih[unit] + b_hh[unit]);
}

__global__ void output_kernel(const float* h, const float* w_ho, const float* b_ho, float* y, int n_hid, int n_out)
{
    const int lane = threadIdx.x & 31;
    const int unit = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    const int b = blockIdx.y;
    if (unit >= n_out) return;

    float s = warp_sum(lane_dot(w_ho + (size_t)unit * n_hid, h + (size_t)b * n_hid, n_hid, lane));
    if (lane == 0) y[(size_t)b * n_out + unit] = s + b_ho[unit];
}

extern "C" void rnn_cell(const float* x, const float* h, const float* w_ih, const float* b_ih, const float* w_hh,
                         const float* b_hh, const float* w_ho, const float* b_ho, float* h_new, float* y, int batch,
                         int n_in, int n_hid, int n_out)
{
    const int threads = 32 * WARPS_PER_BLOCK;
    dim3 g1((n_hid + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK, batch);
    hidden_kernel<<<g1, threads>>>(x, h, w_ih, b_ih, w_hh, b_hh, h_new, n_in, n_hid);
    dim3 g2((n_out + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK, batch);
    output_kernel<<<g2, threads>>>(h_new, w_ho, b_ho, y, n_hid, n_out);
}
