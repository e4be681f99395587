#include <cuda_runtime.h>


// y[S]: the sums of those x[i] whose segment[i] is s; others than 0 ... S - 1 belong to none. ws: workspace, S doubles.
__global__ void clear_kernel(double* ws, int S) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < S) ws[s] = 0.0;
}

__global__ void add_kernel(double* ws, const float* x, const int* segment, int N, int S) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int s = segment[i];
  if (s >= 0 && s < S) atomicAdd(&ws[s], (double)x[i]);
}

__global__ void round_kernel(float* y, const double* ws, int S) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < S) y[s] = (float)ws[s];
}

void segment_sums(float* y, const float* x, const int* segment, double* ws, int N, int S, cudaStream_t stream) {
  if (S <= 0) return;
  clear_kernel<<<(S + 127) / 128, 128, 0, stream>>>(ws, S);
  if (N > 0) add_kernel<<<(N + 127) / 128, 128, 0, stream>>>(ws, x, segment, N, S);
  round_kernel<<<(S + 127) / 128, 128, 0, stream>>>(y, ws, S);
}
