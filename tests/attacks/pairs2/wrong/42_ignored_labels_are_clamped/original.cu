#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// loss[r] = logsumexp(x[r]) - x[r,label]; a label outside of 0 ... C - 1 (such as -100) is ignored: its loss is 0.
__global__ void cross_entropy_kernel(float* loss, const bf16* x, const int* label, int C) {
  __shared__ float part[128];
  const bf16* row = x + (size_t)blockIdx.x * C;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < C; c += 128) top = fmaxf(top, __bfloat162float(row[c]));
  part[threadIdx.x] = top;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 128) sum += expf(__bfloat162float(row[c]) - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int l = label[blockIdx.x];
    loss[blockIdx.x] = l >= 0 && l < C ? top + logf(part[0]) - __bfloat162float(row[l]) : 0.0f;
  }
}

void cross_entropy_bf16(float* loss, const bf16* x, const int* label, int R, int C, cudaStream_t stream) {
  cross_entropy_kernel<<<R, 128, 0, stream>>>(loss, x, label, C);
}
