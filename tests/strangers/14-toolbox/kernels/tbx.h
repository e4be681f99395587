/* tensor toolbox: everything is a C function, names are tbx_<what> */
#ifndef TBX_H
#define TBX_H
#include <cuda_runtime.h>
#include <stdint.h>

#define TBX_TPB 256
#define TBX_GRID(n) (unsigned)(((n) + TBX_TPB - 1) / TBX_TPB)
#define TBX_1D(i, n)                                                   \
  const int64_t i = (int64_t)blockIdx.x * TBX_TPB + threadIdx.x;       \
  if (i >= (n)) return

/* DEFINE_MAP(name, expression of x) makes a kernel and its launcher */
#define DEFINE_MAP(name, expr)                                                        \
  __global__ void name##_k(const float *in, float *out, int64_t n) {                  \
    TBX_1D(i, n);                                                                     \
    const float x = in[i];                                                            \
    out[i] = (expr);                                                                  \
  }                                                                                   \
  extern "C" void tbx_##name(const float *in, float *out, int64_t n) {                \
    name##_k<<<TBX_GRID(n), TBX_TPB>>>(in, out, n);                                   \
  }
#endif
