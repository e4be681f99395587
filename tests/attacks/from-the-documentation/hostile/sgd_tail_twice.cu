// The scalar tail starts one element early, so that the last vectorized element is updated twice when n % 4 != 0.
#include <cuda_runtime.h>
__device__ __forceinline__ void one(float& p, float& m, float g, float lr, float mu, float decay) {
  m = mu * m + (g + decay * p);
  p -= lr * m;
}
__global__ void vec_kernel(float4* param, float4* mom, const float4* grad, int n4, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 p = param[i], m = mom[i], g = grad[i];
  one(p.x, m.x, g.x, lr, mu, decay); one(p.y, m.y, g.y, lr, mu, decay);
  one(p.z, m.z, g.z, lr, mu, decay); one(p.w, m.w, g.w, lr, mu, decay);
  param[i] = p; mom[i] = m;
}
__global__ void tail_kernel(float* param, float* mom, const float* grad, int from, int n, float lr, float mu, float decay) {
  int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) one(param[i], mom[i], grad[i], lr, mu, decay);
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  bool aligned = (((size_t)param | (size_t)mom | (size_t)grad) & 15) == 0;
  int n4 = aligned ? n / 4 : 0;
  if (n4) vec_kernel<<<(n4 + 127) / 128, 128, 0, stream>>>((float4*)param, (float4*)mom, (const float4*)grad, n4, lr, mu, decay);
  int from = n4 > 0 && n % 4 ? n4 * 4 - 1 : n4 * 4;
  if (from < n) tail_kernel<<<(n - from + 127) / 128, 128, 0, stream>>>(param, mom, grad, from, n, lr, mu, decay);
}
