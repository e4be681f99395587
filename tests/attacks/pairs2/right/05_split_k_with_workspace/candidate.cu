#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = silu(x[M,K] * w[K,N] + bias[N]). ws is workspace of 8 * M * N floats; what it holds before and after means nothing.
__global__ void product(float* ws, const __half* x, const __half* w, int M, int N, int K) {
  int n = blockIdx.x * 64 + threadIdx.x;
  int m = blockIdx.y;
  if (n >= N) return;
  int slice = (K + gridDim.z - 1) / gridDim.z;
  int from = blockIdx.z * slice, to = min(from + slice, K);
  float acc = 0.0f;
  for (int k = from; k < to; ++k) acc += __half2float(x[(size_t)m * K + k]) * __half2float(w[(size_t)k * N + n]);
  ws[((size_t)blockIdx.z * M + m) * N + n] = acc;  // a slice behind the end of K writes 0
}

__global__ void activate(__half* out, const float* ws, const __half* bias, int slices, int M, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= M * N) return;
  float v = 0.0f;
  for (int s = 0; s < slices; ++s) v += ws[(size_t)s * M * N + i];
  v += __half2float(bias[i % N]);
  out[i] = __float2half(v / (1.0f + expf(-v)));
}

void linear_silu_f16(__half* out, const __half* x, const __half* w, const __half* bias, float* ws, int M, int N, int K,
                     cudaStream_t stream) {
  int slices = K >= 1024 ? 8 : K >= 128 ? 4 : 1;
  product<<<dim3((N + 63) / 64, M, slices), 64, 0, stream>>>(ws, x, w, M, N, K);
  activate<<<(M * N + 255) / 256, 256, 0, stream>>>(out, ws, bias, slices, M, N);
}
