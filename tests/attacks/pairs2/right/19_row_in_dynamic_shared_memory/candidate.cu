#include <cuda_runtime.h>


// y = x - logsumexp(x) by rows of any length.
__global__ void log_softmax_kernel(float* y, const float* x, int C) {
  __shared__ float part[256];
  const float* row = x + (size_t)blockIdx.x * C;
  int tid = threadIdx.x;
  float top = -INFINITY;
  for (int c = tid; c < C; c += 256) top = fmaxf(top, row[c]);
  part[tid] = top;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] = fmaxf(part[tid], part[tid + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = tid; c < C; c += 256) sum += expf(row[c] - top);
  part[tid] = sum;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] += part[tid + k];
    __syncthreads();
  }
  float l = logf(part[0]);
  for (int c = tid; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = row[c] - top - l;
}

// Rows of up to 24000 elements are read once and kept in dynamic shared memory (96000 bytes, which every GPU since 8.0 has).
__global__ void log_softmax_cached(float* y, const float* x, int C) {
  extern __shared__ float row[];
  __shared__ float part[256];
  int tid = threadIdx.x;
  float top = -INFINITY;
  for (int c = tid; c < C; c += 256) {
    float v = x[(size_t)blockIdx.x * C + c];
    row[c] = v;
    top = fmaxf(top, v);
  }
  part[tid] = top;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] = fmaxf(part[tid], part[tid + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = tid; c < C; c += 256) sum += expf(row[c] - top);
  part[tid] = sum;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] += part[tid + k];
    __syncthreads();
  }
  float l = logf(part[0]);
  for (int c = tid; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = row[c] - top - l;
}

void log_softmax(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (C <= 24000) {
    int bytes = C * (int)sizeof(float);
    if (bytes > 40000) cudaFuncSetAttribute(log_softmax_cached, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    log_softmax_cached<<<R, 256, bytes, stream>>>(y, x, C);
  } else {
    log_softmax_kernel<<<R, 256, 0, stream>>>(y, x, C);
  }
}
