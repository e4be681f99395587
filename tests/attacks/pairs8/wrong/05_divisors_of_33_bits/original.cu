#include <cuda_runtime.h>

#include <cstdint>

// The bucket of each time stamp; buckets are `width` wide.
__global__ void bucket_kernel(uint32_t* bucket, const uint32_t* time, int n, uint32_t width) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bucket[i] = time[i] / width;
}

void bucket_times(uint32_t* bucket, const uint32_t* time, int n, uint32_t width, cudaStream_t stream) {
  if (n <= 0 || width == 0) return;
  bucket_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(bucket, time, n, width);
}
