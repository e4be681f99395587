#include <cuda_fp16.h>
#include <cuda_runtime.h>


// loss[r] = log(sum over c of exp(x[r,c])) - x[r,target[r]]; 0 for a target that is not 0 ... C - 1 (ignored).
__global__ void cross_entropy_kernel(float* loss, const __half* x, const int* target, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int label = target[r];
  if (label < 0 || label >= C) {
    loss[r] = 0.0f;
    return;
  }
  const __half* row = x + (size_t)r * C;
  float top = __int_as_float(0xff800000), sum = 0.0f;
  for (int c = 0; c < C; ++c) top = fmaxf(top, __half2float(row[c]));
  for (int c = 0; c < C; ++c) sum += expf(__half2float(row[c]) - top);
  loss[r] = logf(sum) + (top - __half2float(row[label]));
}

void cross_entropy(float* loss, const __half* x, const int* target, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  cross_entropy_kernel<<<(R + 63) / 64, 64, 0, stream>>>(loss, x, target, R, C);
}
