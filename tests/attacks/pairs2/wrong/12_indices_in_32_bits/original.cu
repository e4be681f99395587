#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[r] = a[r] | b[r]: rows of A and of B elements side by side. Logits of long sequences: R * (A + B) passes 2^31.
__global__ void concat_kernel(bf16* out, const bf16* a, const bf16* b, int R, int A, int B) {
  size_t total = (size_t)R * (A + B);
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (size_t)gridDim.x * blockDim.x) {
    size_t r = i / (A + B);
    int c = (int)(i % (A + B));
    out[i] = c < A ? a[r * A + c] : b[r * B + (c - A)];
  }
}

void concat_bf16(bf16* out, const bf16* a, const bf16* b, int R, int A, int B, cudaStream_t stream) {
  concat_kernel<<<1024, 256, 0, stream>>>(out, a, b, R, A, B);
}
