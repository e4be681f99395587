#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

typedef uint8_t u8;

inline unsigned divUp(int a, int b) { return (unsigned)((a + b - 1) / b); }

// replicate the border
__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
