// Declarations that the parser sees in place of the CUDA toolkit and the standard library: enough that names in kernels and
// launchers resolve. Nothing here is ever compiled to code.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __block_size__(...)
#define __nv_pure__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define WW_HD __attribute__((host)) __attribute__((device))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int int64_t;
typedef unsigned long int uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
#define NULL __null
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define INT8_MAX 127
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MAX 9223372036854775807l
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define M_PI_F 3.14159265f
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define CUDART_PI_F 3.141592654f
#define assert(...) ((void)(__VA_ARGS__))
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
#define stderr ((FILE*)0)
#define stdout ((FILE*)0)
struct FILE;

#define WW_VECTOR(T, name)                                                    \
  struct name##1 { T x; };                                                    \
  struct __align__(2 * sizeof(T)) name##2 { T x, y; };                        \
  struct name##3 { T x, y, z; };                                              \
  struct __align__(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  WW_HD name##1 make_##name##1(T x);                                          \
  WW_HD name##2 make_##name##2(T x, T y);                                     \
  WW_HD name##3 make_##name##3(T x, T y, T z);                                \
  WW_HD name##4 make_##name##4(T x, T y, T z, T w);
WW_VECTOR(signed char, char)
WW_VECTOR(unsigned char, uchar)
WW_VECTOR(short, short)
WW_VECTOR(unsigned short, ushort)
WW_VECTOR(int, int)
WW_VECTOR(unsigned int, uint)
WW_VECTOR(long int, long)
WW_VECTOR(unsigned long int, ulong)
WW_VECTOR(long long, longlong)
WW_VECTOR(unsigned long long, ulonglong)
WW_VECTOR(float, float)
WW_VECTOR(double, double)

struct dim3 {
  unsigned int x, y, z;
  WW_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  WW_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  WW_HD constexpr operator uint3() const { return {x, y, z}; }
};
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
extern __device__ const int warpSize;

#include "runtime.h"
#include "functions.h"
#include "half.h"
#include "libraries.h"
