#include <cuda_fp16.h>
#include <cuda_runtime.h>


// scale[r] = largest absolute value of row r of x[R,C] / 127 (NaN is passed over), q[r,c] = round(x[r,c] / scale[r])
// with ties to even, within -127 ... 127; 0 where the quotient is no number.
__global__ void scale_kernel(float* scale, const __half* x, int C) {
  __shared__ float shared[128];
  int t = threadIdx.x;
  float top = 0.0f;
  for (int c = t; c < C; c += 128) top = fmaxf(top, fabsf(__half2float(x[(size_t)blockIdx.x * C + c])));
  shared[t] = top;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) shared[t] = fmaxf(shared[t], shared[t + o]);
    __syncthreads();
  }
  if (t == 0) scale[blockIdx.x] = shared[0] / 127.0f;
}

__global__ void quantize_kernel(signed char* q, const float* scale, const __half* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  int v = __float2int_rn(__half2float(x[i]) / scale[i / C]);
  q[i] = (signed char)max(-127, min(127, v));
}

void quantize_rows(signed char* q, float* scale, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  scale_kernel<<<R, 128, 0, stream>>>(scale, x, C);
  size_t total = (size_t)R * C;
  if (total > 0) quantize_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(q, scale, x, R, C);
}
