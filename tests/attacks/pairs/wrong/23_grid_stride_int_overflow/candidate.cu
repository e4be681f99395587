#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = 255 - x for n bytes, four per access where both pointers allow, by a grid that fills the machine once.
__global__ void __launch_bounds__(256) invert_kernel(unsigned char* out, const unsigned char* x, int n, int words) {
  int stride = gridDim.x * 256;
  int first = blockIdx.x * 256 + threadIdx.x;
  for (int i = first; i < words; i += stride) {
    reinterpret_cast<unsigned*>(out)[i] = ~reinterpret_cast<const unsigned*>(x)[i];
  }
  for (int i = 4 * words + first; i < n; i += stride) out[i] = 255 - x[i];
}

void invert(unsigned char* out, const unsigned char* x, int n) {
  if (n <= 0) return;
  int words = ((size_t)out | (size_t)x) % 4 == 0 ? n / 4 : 0;
  int blocks = (n - 1) / 1024 + 1;
  invert_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, x, n, words);
}
