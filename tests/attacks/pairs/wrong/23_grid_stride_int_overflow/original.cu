#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = 255 - x for n bytes.
__global__ void invert_kernel(unsigned char* out, const unsigned char* x, int n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 255 - x[i];
}

void invert(unsigned char* out, const unsigned char* x, int n) {
  if (n > 0) invert_kernel<<<(unsigned)(((long long)n + 255) / 256), 256>>>(out, x, n);
}
