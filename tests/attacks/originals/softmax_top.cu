// Row softmax and the index of each row's first maximum, one block per row.
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax_top_kernel(float* out, int* top, const float* inp, int C) {
  __shared__ float val[128];
  __shared__ int idx[128];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  float best = -INFINITY;
  int at = 0x7fffffff;
  for (int i = t; i < C; i += 128)
    if (x[i] > best) { best = x[i]; at = i; }
  val[t] = best;
  idx[t] = at;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) {
      float o = val[t + s];
      int j = idx[t + s];
      if (o > val[t] || (o == val[t] && j < idx[t])) { val[t] = o; idx[t] = j; }
    }
    __syncthreads();
  }
  float m = val[0];
  if (t == 0) top[blockIdx.x] = idx[0] == 0x7fffffff ? 0 : idx[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = t; i < C; i += 128) sum += expf(x[i] - m);
  val[t] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (t < s) val[t] += val[t + s];
    __syncthreads();
  }
  sum = val[0];
  for (int i = t; i < C; i += 128) y[i] = expf(x[i] - m) / sum;
}

void softmax_top(float* out, int* top, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  softmax_top_kernel<<<N, 128>>>(out, top, inp, C);
}
