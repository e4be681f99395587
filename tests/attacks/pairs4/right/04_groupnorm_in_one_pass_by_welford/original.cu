#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Group normalization of x[N,C,L] in G groups of C / G channels, with gamma[C] and beta[C].
__global__ void groupnorm_kernel(__half* y, const __half* x, const __half* gamma, const __half* beta, int C, int L,
                                 int G, float eps) {
  __shared__ float shared[128];
  int t = threadIdx.x, g = blockIdx.x % G;
  int cg = C / G, count = cg * L;
  size_t base = (size_t)blockIdx.x * count;
  float s = 0.0f;
  for (int i = t; i < count; i += 128) s += __half2float(x[base + i]);
  shared[t] = s;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) shared[t] += shared[t + o];
    __syncthreads();
  }
  float mean = shared[0] / count;
  __syncthreads();
  float q = 0.0f;
  for (int i = t; i < count; i += 128) {
    float d = __half2float(x[base + i]) - mean;
    q += d * d;
  }
  shared[t] = q;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) shared[t] += shared[t + o];
    __syncthreads();
  }
  float inv = rsqrtf(shared[0] / count + eps);
  for (int i = t; i < count; i += 128) {
    int c = g * cg + i / L;
    y[base + i] =
        __float2half((__half2float(x[base + i]) - mean) * inv * __half2float(gamma[c]) + __half2float(beta[c]));
  }
}

// C is a multiple of G.
void groupnorm(__half* y, const __half* x, const __half* gamma, const __half* beta, int N, int C, int L, int G,
               float eps, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || L <= 0 || G <= 0) return;
  groupnorm_kernel<<<N * G, 128, 0, stream>>>(y, x, gamma, beta, C, L, G, eps);
}
