// level3 / VanillaRNN, one time step in half precision
//   combined = cat(x, h)
//   h'       = tanh(combined @ W_ih^T + b_ih)
//   y        = h' @ W_ho^T + b_ho
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct Identity { __device__ float operator()(float v) const { return v; } };
struct Tanh     { __device__ float operator()(float v) const { return tanhf(v); } };

__global__ void concat_kernel(const half* x, const half* h, half* out, int B, int I, int H) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * (I + H)) return;
  int b = i / (I + H);
  int j = i % (I + H);
  out[i] = j < I ? x[b * I + j] : h[b * H + j - I];
}

// one warp computes one element of the output
template <typename Act>
__global__ void linear_warp_kernel(const half* in, const half* w, const half* bias, half* out,
                                   int B, int IN, int OUT, Act act) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (warp >= B * OUT) return;
  int b = warp / OUT;
  int o = warp % OUT;

  float acc = 0.f;
  for (int k = lane; k < IN; k += 32) {
    acc += __half2float(in[(size_t)b * IN + k]) * __half2float(w[(size_t)o * IN + k]);
  }
  for (int off = 16; off > 0; off >>= 1) acc += __shfl_down_sync(0xffffffff, acc, off);
  if (lane == 0) out[(size_t)b * OUT + o] = __float2half(act(acc + __half2float(bias[o])));
}

template <typename Act>
static void linear(const half* in, const half* w, const half* bias, half* out,
                   int B, int IN, int OUT, Act act, cudaStream_t s) {
  const int warps_per_block = 8;
  int blocks = (B * OUT + warps_per_block - 1) / warps_per_block;
  linear_warp_kernel<<<blocks, warps_per_block * 32, 0, s>>>(in, w, bias, out, B, IN, OUT, act);
}

void vanilla_rnn_step(const half* x, const half* h, const half* w_ih, const half* b_ih,
                      const half* w_ho, const half* b_ho, half* combined, half* h_new, half* y,
                      int batch, int input, int hidden, int output, cudaStream_t stream) {
  int n = batch * (input + hidden);
  concat_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, h, combined, batch, input, hidden);
  linear(combined, w_ih, b_ih, h_new, batch, input + hidden, hidden, Tanh{}, stream);
  linear(h_new, w_ho, b_ho, y, batch, hidden, output, Identity{}, stream);
}
