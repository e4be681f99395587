#ifndef GRIDLAB_H
#define GRIDLAB_H

#include <cuda_runtime.h>

/* column-major: the first index is the fastest, as in Fortran */
#define IDX3(i, j, k, nx, ny) ((size_t)(i) + (size_t)(nx) * ((j) + (size_t)(ny) * (k)))
#define BLOCKS(n, b) (((n) + (b) - 1) / (b))
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

#define THREAD_1D(i) const int i = blockIdx.x * blockDim.x + threadIdx.x

#endif
