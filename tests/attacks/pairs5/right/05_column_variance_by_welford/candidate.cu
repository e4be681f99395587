#include <cuda_runtime.h>


// One pass over x: every thread has a count, a mean and a sum of squared deviations (Welford), which are merged by the formula of
// Chan. The mean that is stored comes from plain sums. A block has 16 columns and 32 rows at a time.
__global__ void __launch_bounds__(512)
    column_variance_kernel(float* mean, float* variance, const float* __restrict__ x, int N, int D) {
  __shared__ float sums[32][17], means[32][17], squares[32][17];
  int tx = threadIdx.x, ty = threadIdx.y, d = blockIdx.x * 16 + tx;
  float s = 0.0f, m = 0.0f, q = 0.0f;
  int count = 0;
  if (d < D)
    for (int n = ty; n < N; n += 32) {
      float v = x[(size_t)n * D + d];
      ++count;
      s += v;
      float delta = v - m;
      m += delta / (float)count;
      q += delta * (v - m);
    }
  sums[ty][tx] = s;
  means[ty][tx] = m;
  squares[ty][tx] = q;
  __syncthreads();
  if (ty != 0 || d >= D) return;
  for (int j = 1; j < 32; ++j) {
    int rows = j < N ? (N - 1 - j) / 32 + 1 : 0;  // of thread j
    if (rows == 0) break;
    float share = (float)rows / (float)(count + rows);
    float delta = means[j][tx] - m;
    s += sums[j][tx];
    m += delta * share;
    q += squares[j][tx] + delta * delta * ((float)count * share);
    count += rows;
  }
  mean[d] = s / N;
  variance[d] = N > 1 ? q / (N - 1) : 0.0f;
}

void column_variance(float* mean, float* variance, const float* x, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  column_variance_kernel<<<(D + 15) / 16, dim3(16, 32), 0, stream>>>(mean, variance, x, N, D);
}
