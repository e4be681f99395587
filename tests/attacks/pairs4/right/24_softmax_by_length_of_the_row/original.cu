#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// y[R,C] = softmax of the rows of x[R,C] / temperature. May work in place.
__global__ void softmax_kernel(bf16* y, const bf16* x, int C, float temperature) {
  __shared__ float shared[128];
  int t = threadIdx.x;
  size_t base = (size_t)blockIdx.x * C;
  float top = __int_as_float(0xff800000);
  for (int c = t; c < C; c += 128) top = fmaxf(top, __bfloat162float(x[base + c]) / temperature);
  shared[t] = top;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) shared[t] = fmaxf(shared[t], shared[t + o]);
    __syncthreads();
  }
  top = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < C; c += 128) sum += expf(__bfloat162float(x[base + c]) / temperature - top);
  shared[t] = sum;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) shared[t] += shared[t + o];
    __syncthreads();
  }
  sum = shared[0];
  for (int c = t; c < C; c += 128)
    y[base + c] = __float2bfloat16(expf(__bfloat162float(x[base + c]) / temperature - top) / sum);
}

void softmax_temperature(bf16* y, const bf16* x, int R, int C, float temperature, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  softmax_kernel<<<R, 128, 0, stream>>>(y, x, C, temperature);
}
