#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y = a * x + y in half arithmetic, one rounding (fma).
__global__ void axpy_kernel(__half* y, const __half* x, const __half* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(a[0], x[i], y[i]);
}

__global__ void axpy_pairs(__half2* y, const __half2* x, const __half* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half f = a[0];
  if (i < n / 2) y[i] = __hfma2(__half2half2(f), x[i], y[i]);
  if (i == 0 && n % 2) {
    __half* ly = (__half*)y + n - 1;
    *ly = __hfma(f, ((const __half*)x)[n - 1], *ly);
  }
}

void axpy_half(__half* y, const __half* x, const __half* a, int n, cudaStream_t stream) {
  if ((((size_t)y | (size_t)x) & 3) == 0) {
    int threads = n / 2 + n % 2;
    axpy_pairs<<<(threads + 255) / 256, 256, 0, stream>>>((__half2*)y, (const __half2*)x, a, n);
  } else {
    axpy_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, x, a, n);
  }
}
