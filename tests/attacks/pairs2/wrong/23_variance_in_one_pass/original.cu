#include <cuda_fp16.h>
#include <cuda_runtime.h>


// x [B, G, S]: every group of S = channels * pixels elements is normalized; two passes over the group, as offsets are large.
__global__ void groupnorm_kernel(__half* y, const __half* x, float eps, int S) {
  __shared__ float part[128];
  __shared__ float mean, inv;
  const __half* g = x + (size_t)blockIdx.x * S;
  float s = 0.0f;
  for (int i = threadIdx.x; i < S; i += 128) s += __half2float(g[i]);
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0.0f;
    for (int i = 0; i < 128; ++i) t += part[i];
    mean = t / S;
  }
  __syncthreads();
  float q = 0.0f;
  for (int i = threadIdx.x; i < S; i += 128) {
    float d = __half2float(g[i]) - mean;
    q += d * d;
  }
  part[threadIdx.x] = q;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0.0f;
    for (int i = 0; i < 128; ++i) t += part[i];
    inv = rsqrtf(t / S + eps);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < S; i += 128)
    y[(size_t)blockIdx.x * S + i] = __float2half((__half2float(g[i]) - mean) * inv);
}

void groupnorm_f16(__half* y, const __half* x, float eps, int B, int G, int S, cudaStream_t stream) {
  groupnorm_kernel<<<B * G, 128, 0, stream>>>(y, x, eps, S);
}
