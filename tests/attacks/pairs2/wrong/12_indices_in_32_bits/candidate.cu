#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[r] = a[r] | b[r]: rows of A and of B elements side by side. Logits of long sequences: R * (A + B) passes 2^31.
__global__ void concat_kernel(bf16* out, const bf16* a, const bf16* b, int R, int A, int B) {
  int width = A + B, total = R * width;  // 64-bit division is slow
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    int r = i / width;
    int c = i - r * width;
    out[i] = c < A ? a[(size_t)r * A + c] : b[(size_t)r * B + (c - A)];
  }
}

void concat_bf16(bf16* out, const bf16* a, const bf16* b, int R, int A, int B, cudaStream_t stream) {
  concat_kernel<<<1024, 256, 0, stream>>>(out, a, b, R, A, B);
}
