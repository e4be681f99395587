#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// dw[M,N] += x[T,M]^T * dy[T,N]: the gradient of a layer's weights, added to what other parts of the batch left there.
__global__ void gradient_kernel(float* dw, const bf16* x, const bf16* dy, int T, int M, int N) {
  int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  int begin = blockIdx.z * 32, end = begin + 32 < T ? begin + 32 : T;
  if (m >= M || n >= N) return;
  float s = 0.0f;
  for (int t = begin; t < end; ++t)
    s += __bfloat162float(x[(size_t)t * M + m]) * __bfloat162float(dy[(size_t)t * N + n]);
  atomicAdd(&dw[(size_t)m * N + n], s);
}

void weight_gradient(float* dw, const bf16* x, const bf16* dy, int T, int M, int N, cudaStream_t stream) {
  if (T <= 0 || M <= 0 || N <= 0) return;
  gradient_kernel<<<dim3((N + 15) / 16, (M + 15) / 16, (T + 31) / 32), dim3(16, 16), 0, stream>>>(dw, x, dy, T, M, N);
}
