#include <cuda_runtime.h>


// result[0] = a . b, result[1] = a . a for a, b [N], in double precision. ws: workspace of 2 * ceil(N / 256) doubles.
__global__ void products_kernel(double* ws, const double* a, const double* b, int N) {
  __shared__ double ab[256], aa[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  ab[t] = i < N ? a[i] * b[i] : 0.0;
  aa[t] = i < N ? a[i] * a[i] : 0.0;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) {
      ab[t] += ab[t + o];
      aa[t] += aa[t + o];
    }
    __syncthreads();
  }
  if (t == 0) {
    ws[2 * blockIdx.x] = ab[0];
    ws[2 * blockIdx.x + 1] = aa[0];
  }
}

__global__ void total_kernel(double* result, const double* ws, int blocks) {
  int t = threadIdx.x;
  double sum = 0.0;
  for (int b = 0; b < blocks; ++b) sum += ws[2 * b + t];
  result[t] = sum;
}

void dot_and_square(double* result, const double* a, const double* b, double* ws, int N, cudaStream_t stream) {
  int blocks = N > 0 ? (N + 255) / 256 : 0;
  if (blocks > 0) products_kernel<<<blocks, 256, 0, stream>>>(ws, a, b, N);
  total_kernel<<<1, 2, 0, stream>>>(result, ws, blocks);
}
