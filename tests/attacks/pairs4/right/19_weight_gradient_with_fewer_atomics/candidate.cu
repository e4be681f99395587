#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// A block has 32 x 32 elements and 128 steps, which come through shared memory 32 at a time; a thread has 2 x 2
// elements, of each of which it adds one sum.
__global__ void __launch_bounds__(256)
    gradient_kernel(float* dw, const bf16* __restrict__ x, const bf16* __restrict__ dy, int T, int M, int N) {
  __shared__ float xs[32][33], ys[32][33];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  int begin = blockIdx.z * 128, end = begin + 128 < T ? begin + 128 : T;
  float s[2][2] = {};
  for (int t0 = begin; t0 < end; t0 += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * 32; e += 256) {
      int t = t0 + e / 32, c = e % 32;
      xs[e / 32][c] = t < end && m0 + c < M ? __bfloat162float(x[(size_t)t * M + m0 + c]) : 0.0f;
      ys[e / 32][c] = t < end && n0 + c < N ? __bfloat162float(dy[(size_t)t * N + n0 + c]) : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int t = 0; t < 32; ++t) {
      float a0 = xs[t][ty], a1 = xs[t][ty + 16], b0 = ys[t][tx], b1 = ys[t][tx + 16];
      s[0][0] += a0 * b0;
      s[0][1] += a0 * b1;
      s[1][0] += a1 * b0;
      s[1][1] += a1 * b1;
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      int m = m0 + ty + i * 16, n = n0 + tx + j * 16;
      if (m < M && n < N) atomicAdd(&dw[(size_t)m * N + n], s[i][j]);
    }
}

void weight_gradient(float* dw, const bf16* x, const bf16* dy, int T, int M, int N, cudaStream_t stream) {
  if (T <= 0 || M <= 0 || N <= 0) return;
  gradient_kernel<<<dim3((N + 31) / 32, (M + 31) / 32, (T + 127) / 128), 256, 0, stream>>>(dw, x, dy, T, M, N);
}
