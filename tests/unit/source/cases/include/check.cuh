// An error-check macro and helpers, as projects share them.
#ifndef CHECK_CUH
#define CHECK_CUH
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#define CUDA_CHECK(x)                                                              \
  do {                                                                             \
    cudaError_t error = (x);                                                       \
    if (error != cudaSuccess) {                                                    \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)
static inline int divide_up(int a, int b) { return (a + b - 1) / b; }
template <typename T>
__device__ __forceinline__ T warp_sum(T x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}
#endif
