// out (M, N) = inp (M, K) @ weight (K, N) + bias (N), all row-major.
#include "../include/common.cuh"

__global__ void matmul_bias_kernel(float* out, const float* inp, const float* weight, const float* bias, int M, int N,
                                   int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; k++) {
      acc += inp[row * K + k] * weight[k * N + col];
    }
    out[row * N + col] = acc + bias[col];
  }
}

void matmul_bias(float* out, const float* inp, const float* weight, const float* bias, int M, int N, int K) {
  dim3 block(16, 16);
  dim3 grid(ceil_div(N, 16), ceil_div(M, 16));
  matmul_bias_kernel<<<grid, block>>>(out, inp, weight, bias, M, N, K);
  LAUNCH_CHECK();
}
