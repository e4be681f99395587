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

// ---- the runtime -------------------------------------------------------------------------------------------------------------
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9,
                 cudaErrorNotSupported = 801, cudaErrorUnknown = 999 };
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
                      cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxSharedMemoryPerBlock = 8,
                      cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
                      cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrWarpSize = 10,
                      cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39 };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0, cudaEventDisableTiming = 2 };
struct CUstream_st;
struct CUevent_st;
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;
struct cudaDeviceProp { char name[256]; size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
                        int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], major, minor,
                        multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor; };
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs; };
extern "C" {
int cudaConfigureCall(dim3, dim3, size_t = 0, void* = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void* = 0);
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaHostAlloc(void**, size_t, unsigned);
cudaError_t cudaMallocManaged(void**, size_t, unsigned = 1);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
int printf(const char*, ...);
int fprintf(FILE*, const char*, ...);
void exit(int);
void abort();
void* malloc(size_t);
void free(void*);
}
template <typename T> cudaError_t cudaMalloc(T**, size_t);
template <typename T> cudaError_t cudaMallocAsync(T**, size_t, cudaStream_t);
template <typename T> cudaError_t cudaFuncSetAttribute(T*, cudaFuncAttribute, int);
template <typename T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, T*);
template <typename T> cudaError_t cudaFuncSetCacheConfig(T*, cudaFuncCache);
template <typename T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <typename T> cudaError_t cudaMemcpyToSymbolAsync(const T&, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <typename T> cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <typename T> cudaError_t cudaGetSymbolAddress(void**, const T&);
template <typename T> cudaError_t cudaLaunchKernel(T*, dim3, dim3, void**, size_t, cudaStream_t);
template <typename T> cudaError_t cudaLaunchCooperativeKernel(T*, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <typename T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);
template <typename T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, T, size_t = 0, int = 0);

// ---- device functions --------------------------------------------------------------------------------------------------------
__device__ void __syncthreads();
WW_HD int __syncthreads_count(int);
WW_HD int __syncthreads_and(int);
WW_HD int __syncthreads_or(int);
WW_HD void __syncwarp(unsigned = 0xffffffffu);
WW_HD void __threadfence();
WW_HD void __threadfence_block();
WW_HD void __threadfence_system();
WW_HD long long clock64();
WW_HD long clock();
WW_HD void __trap();
WW_HD void __nanosleep(unsigned);

#define WW_MATH1(name)        \
  WW_HD double name(double);  \
  WW_HD float name(float);    \
  WW_HD float name##f(float);
#define WW_MATH2(name)                \
  WW_HD double name(double, double);  \
  WW_HD float name(float, float);     \
  WW_HD float name##f(float, float);
WW_MATH1(exp) WW_MATH1(exp2) WW_MATH1(exp10) WW_MATH1(expm1) WW_MATH1(log) WW_MATH1(log2) WW_MATH1(log10) WW_MATH1(log1p)
WW_MATH1(sqrt) WW_MATH1(rsqrt) WW_MATH1(cbrt) WW_MATH1(sin) WW_MATH1(cos) WW_MATH1(tan) WW_MATH1(sinh) WW_MATH1(cosh)
WW_MATH1(tanh) WW_MATH1(asin) WW_MATH1(acos) WW_MATH1(atan) WW_MATH1(erf) WW_MATH1(erfc) WW_MATH1(fabs) WW_MATH1(floor)
WW_MATH1(ceil) WW_MATH1(round) WW_MATH1(trunc) WW_MATH1(rint) WW_MATH1(nearbyint) WW_MATH1(lgamma) WW_MATH1(tgamma)
WW_MATH1(asinh) WW_MATH1(acosh) WW_MATH1(atanh) WW_MATH1(sinpi) WW_MATH1(cospi) WW_MATH1(normcdf) WW_MATH1(erfinv)
WW_MATH2(pow) WW_MATH2(fmod) WW_MATH2(fmax) WW_MATH2(fmin) WW_MATH2(atan2) WW_MATH2(hypot) WW_MATH2(copysign) WW_MATH2(fdim)
WW_MATH2(remainder)
WW_HD double fma(double, double, double);
WW_HD float fma(float, float, float);
WW_HD float fmaf(float, float, float);
WW_HD float abs(float);
WW_HD double abs(double);
WW_HD int abs(int);
WW_HD long long llabs(long long);
WW_HD bool isnan(float);
WW_HD bool isinf(float);
WW_HD bool isfinite(float);
WW_HD bool signbit(float);
WW_HD void sincosf(float, float*, float*);
WW_HD void sincos(double, double*, double*);
WW_HD float ldexpf(float, int);
WW_HD float saturate(float);
#define WW_FAST1(name) WW_HD float name(float);
#define WW_FAST2(name) WW_HD float name(float, float);
WW_FAST1(__expf) WW_FAST1(__exp10f) WW_FAST1(__logf) WW_FAST1(__log2f) WW_FAST1(__log10f) WW_FAST1(__sinf) WW_FAST1(__cosf)
WW_FAST1(__tanf) WW_FAST1(__saturatef) WW_FAST1(__frcp_rn) WW_FAST1(__fsqrt_rn) WW_FAST1(__frsqrt_rn) WW_FAST1(__tanhf)
WW_FAST2(__powf) WW_FAST2(__fdividef) WW_FAST2(__fdiv_rn) WW_FAST2(__fadd_rn) WW_FAST2(__fmul_rn) WW_FAST2(__fsub_rn)
WW_FAST2(__fadd_rz) WW_FAST2(__fmul_rz)
WW_HD float __fmaf_rn(float, float, float);
WW_HD int __float2int_rn(float);
WW_HD int __float2int_rz(float);
WW_HD int __float2int_rd(float);
WW_HD unsigned __float2uint_rn(float);
WW_HD float __int2float_rn(int);
WW_HD float __uint2float_rn(unsigned);
WW_HD float __int_as_float(int);
WW_HD float __uint_as_float(unsigned);
WW_HD int __float_as_int(float);
WW_HD unsigned __float_as_uint(float);
WW_HD double __longlong_as_double(long long);
WW_HD long long __double_as_longlong(double);
WW_HD int __mul24(int, int);
WW_HD unsigned __umulhi(unsigned, unsigned);
WW_HD int __mulhi(int, int);
WW_HD int __clz(int);
WW_HD int __clzll(long long);
WW_HD int __ffs(int);
WW_HD int __popc(unsigned);
WW_HD int __popcll(unsigned long long);
WW_HD unsigned __brev(unsigned);
WW_HD unsigned __byte_perm(unsigned, unsigned, unsigned);
WW_HD int __dp4a(int, int, int);
WW_HD size_t __cvta_generic_to_shared(const void*);
WW_HD void* __cvta_generic_to_global(const void*);

template <typename T> WW_HD T __ldg(const T*);
template <typename T> WW_HD T __ldcs(const T*);
template <typename T> WW_HD T __ldcg(const T*);
template <typename T> WW_HD T __ldca(const T*);
template <typename T> WW_HD T __ldlu(const T*);
template <typename T> WW_HD T __ldcv(const T*);
template <typename T> WW_HD void __stcs(T*, T);
template <typename T> WW_HD void __stcg(T*, T);
template <typename T> WW_HD void __stwb(T*, T);
template <typename T> WW_HD void __stwt(T*, T);
template <typename T> WW_HD T __shfl_sync(unsigned, T, int, int = 32);
template <typename T> WW_HD T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <typename T> WW_HD T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <typename T> WW_HD T __shfl_xor_sync(unsigned, T, int, int = 32);
WW_HD unsigned __ballot_sync(unsigned, int);
WW_HD int __all_sync(unsigned, int);
WW_HD int __any_sync(unsigned, int);
WW_HD unsigned __activemask();
template <typename T> WW_HD unsigned __match_any_sync(unsigned, T);
template <typename T> WW_HD unsigned __match_all_sync(unsigned, T, int*);
template <typename T> WW_HD T __reduce_add_sync(unsigned, T);
template <typename T> WW_HD T __reduce_max_sync(unsigned, T);
template <typename T> WW_HD T __reduce_min_sync(unsigned, T);
template <typename T> struct WwSame { typedef T type; };
#define WW_ATOMIC(name)                                                                       \
  template <typename T> WW_HD T name(T*, typename WwSame<T>::type);                           \
  template <typename T> WW_HD T name##_block(T*, typename WwSame<T>::type);                   \
  template <typename T> WW_HD T name##_system(T*, typename WwSame<T>::type);
WW_ATOMIC(atomicAdd) WW_ATOMIC(atomicSub) WW_ATOMIC(atomicExch) WW_ATOMIC(atomicMin) WW_ATOMIC(atomicMax) WW_ATOMIC(atomicAnd)
WW_ATOMIC(atomicOr) WW_ATOMIC(atomicXor) WW_ATOMIC(atomicInc) WW_ATOMIC(atomicDec)
template <typename T> WW_HD T atomicCAS(T*, typename WwSame<T>::type, typename WwSame<T>::type);
template <typename T> WW_HD T max(T, T);
template <typename T> WW_HD T min(T, T);
WW_HD long long max(long long, long long);
WW_HD long long min(long long, long long);
WW_HD float max(float, float);
WW_HD float min(float, float);
WW_HD void __pipeline_memcpy_async(void*, const void*, size_t, size_t = 0);
WW_HD void __pipeline_commit();
WW_HD void __pipeline_wait_prior(size_t);
WW_HD void __builtin_assume(bool);

// ---- half precision ----------------------------------------------------------------------------------------------------------
#define WW_HALF(half_t, half2_t, raw)                                                         \
  struct __attribute__((aligned(2))) half_t {                                                 \
    unsigned short raw;                                                                       \
    half_t() = default;                                                                       \
    WW_HD half_t(float);                                                                      \
    WW_HD half_t(double);                                                                     \
    WW_HD half_t(int);                                                                        \
    WW_HD operator float() const;                                                             \
    WW_HD half_t& operator+=(half_t);                                                         \
    WW_HD half_t& operator-=(half_t);                                                         \
    WW_HD half_t& operator*=(half_t);                                                         \
  };                                                                                          \
  struct __attribute__((aligned(4))) half2_t {                                                \
    half_t x, y;                                                                              \
    half2_t() = default;                                                                      \
    WW_HD half2_t(half_t, half_t);                                                            \
  };                                                                                          \
  WW_HD half_t operator+(half_t, half_t);                                                     \
  WW_HD half_t operator-(half_t, half_t);                                                     \
  WW_HD half_t operator*(half_t, half_t);                                                     \
  WW_HD half_t operator/(half_t, half_t);                                                     \
  WW_HD half_t operator-(half_t);                                                             \
  WW_HD bool operator<(half_t, half_t);                                                       \
  WW_HD bool operator>(half_t, half_t);                                                       \
  WW_HD half2_t operator+(half2_t, half2_t);                                                  \
  WW_HD half2_t operator-(half2_t, half2_t);                                                  \
  WW_HD half2_t operator*(half2_t, half2_t);                                                  \
  WW_HD half_t __hadd(half_t, half_t);                                                        \
  WW_HD half_t __hsub(half_t, half_t);                                                        \
  WW_HD half_t __hmul(half_t, half_t);                                                        \
  WW_HD half_t __hdiv(half_t, half_t);                                                        \
  WW_HD half_t __hfma(half_t, half_t, half_t);                                                \
  WW_HD half_t __hmax(half_t, half_t);                                                        \
  WW_HD half_t __hmin(half_t, half_t);                                                        \
  WW_HD bool __hgt(half_t, half_t);                                                           \
  WW_HD bool __hlt(half_t, half_t);                                                           \
  WW_HD half_t __habs(half_t);                                                                \
  WW_HD half_t __hneg(half_t);                                                                \
  WW_HD half_t hexp(half_t);                                                                  \
  WW_HD half_t hsqrt(half_t);                                                                 \
  WW_HD half_t hrsqrt(half_t);                                                                \
  WW_HD half2_t __hadd2(half2_t, half2_t);                                                    \
  WW_HD half2_t __hsub2(half2_t, half2_t);                                                    \
  WW_HD half2_t __hmul2(half2_t, half2_t);                                                    \
  WW_HD half2_t __hfma2(half2_t, half2_t, half2_t);                                           \
  WW_HD half2_t __hmax2(half2_t, half2_t);                                                    \
  WW_HD half2_t __hmin2(half2_t, half2_t);                                                    \
  WW_HD half2_t h2exp(half2_t);                                                               \
  WW_HD half_t __low2half_##half_t(half2_t);
WW_HALF(__half, __half2, __x)
WW_HALF(__nv_bfloat16, __nv_bfloat162, __y)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
WW_HD float __half2float(__half);
WW_HD __half __float2half(float);
WW_HD __half __float2half_rn(float);
WW_HD __half __double2half(double);
WW_HD float2 __half22float2(__half2);
WW_HD __half2 __float22half2_rn(float2);
WW_HD __half2 __floats2half2_rn(float, float);
WW_HD __half2 __float2half2_rn(float);
WW_HD __half2 __half2half2(__half);
WW_HD __half2 __halves2half2(__half, __half);
WW_HD __half2 make_half2(__half, __half);
WW_HD __half __low2half(__half2);
WW_HD __half __high2half(__half2);
WW_HD float __low2float(__half2);
WW_HD float __high2float(__half2);
WW_HD int __half2int_rn(__half);
WW_HD __half __int2half_rn(int);
WW_HD unsigned short __half_as_ushort(__half);
WW_HD __half __ushort_as_half(unsigned short);
WW_HD float __bfloat162float(__nv_bfloat16);
WW_HD __nv_bfloat16 __float2bfloat16(float);
WW_HD __nv_bfloat16 __float2bfloat16_rn(float);
WW_HD __nv_bfloat16 __double2bfloat16(double);
WW_HD float2 __bfloat1622float2(__nv_bfloat162);
WW_HD __nv_bfloat162 __float22bfloat162_rn(float2);
WW_HD __nv_bfloat162 __floats2bfloat162_rn(float, float);
WW_HD __nv_bfloat162 __float2bfloat162_rn(float);
WW_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
WW_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
WW_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
WW_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162);
WW_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162);
WW_HD float __low2float(__nv_bfloat162);
WW_HD float __high2float(__nv_bfloat162);
WW_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16);
WW_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short);

// ---- libraries of the toolkit ------------------------------------------------------------------------------------------------
namespace cooperative_groups {
struct thread_group {
  WW_HD void sync() const;
  WW_HD unsigned size() const;
  WW_HD unsigned thread_rank() const;
  WW_HD unsigned num_threads() const;
};
struct thread_block : thread_group {
  WW_HD dim3 group_index() const;
  WW_HD dim3 thread_index() const;
  WW_HD dim3 group_dim() const;
};
struct grid_group : thread_group {
  WW_HD bool is_valid() const;
  WW_HD unsigned long long num_blocks() const;
  WW_HD unsigned long long block_rank() const;
};
struct coalesced_group : thread_group {
  template <typename T> WW_HD T shfl(T, int) const;
};
template <unsigned N, typename Parent = void> struct thread_block_tile : thread_group {
  WW_HD unsigned meta_group_rank() const;
  WW_HD unsigned meta_group_size() const;
  template <typename T> WW_HD T shfl(T, int) const;
  template <typename T> WW_HD T shfl_down(T, unsigned) const;
  template <typename T> WW_HD T shfl_up(T, unsigned) const;
  template <typename T> WW_HD T shfl_xor(T, unsigned) const;
  WW_HD unsigned ballot(int) const;
  WW_HD int any(int) const;
  WW_HD int all(int) const;
};
WW_HD thread_block this_thread_block();
WW_HD grid_group this_grid();
WW_HD coalesced_group coalesced_threads();
template <unsigned N, typename Group> WW_HD thread_block_tile<N> tiled_partition(const Group&);
template <typename Group> WW_HD void sync(const Group&);
template <typename T> struct plus { WW_HD T operator()(T, T) const; };
template <typename T> struct greater { WW_HD T operator()(T, T) const; };
template <typename T> struct less { WW_HD T operator()(T, T) const; };
template <typename Group, typename T, typename Op> WW_HD T reduce(const Group&, T, Op&&);
template <typename Group, typename T> WW_HD void memcpy_async(const Group&, T*, const T*, size_t);
template <typename Group> WW_HD void wait(const Group&);
}  // namespace cooperative_groups
namespace nvcuda::wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; }
template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment { int num_elements; T x[8]; };
template <typename F, typename T> WW_HD void load_matrix_sync(F&, const T*, unsigned);
template <typename F, typename T> WW_HD void load_matrix_sync(F&, const T*, unsigned, layout_t);
template <typename F, typename T> WW_HD void store_matrix_sync(T*, const F&, unsigned, layout_t);
template <typename F, typename T> WW_HD void fill_fragment(F&, const T&);
template <typename D, typename A, typename B, typename C> WW_HD void mma_sync(D&, const A&, const B&, const C&);
}  // namespace nvcuda::wmma

namespace std {
using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t; using ::int32_t;
using ::uint32_t; using ::int64_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t;
using ::abs; using ::exp; using ::exp2; using ::log; using ::log2; using ::sqrt; using ::pow; using ::fabs; using ::floor;
using ::ceil; using ::tanh; using ::erf; using ::sin; using ::cos; using ::fma; using ::fmax; using ::fmin; using ::isnan;
using ::isinf; using ::round; using ::printf; using ::fprintf; using ::exit; using ::abort; using ::malloc; using ::free;
typedef decltype(nullptr) nullptr_t;
template <typename T> WW_HD constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T> WW_HD constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T, T v> struct integral_constant { static constexpr T value = v; constexpr operator T() const { return v; } };
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool v> using bool_constant = integral_constant<bool, v>;
template <typename A, typename B> struct is_same : false_type {};
template <typename A> struct is_same<A, A> : true_type {};
template <typename A, typename B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool c, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { typedef T type; };
template <bool c, typename T = void> using enable_if_t = typename enable_if<c, T>::type;
template <bool c, typename A, typename B> struct conditional { typedef A type; };
template <typename A, typename B> struct conditional<false, A, B> { typedef B type; };
template <bool c, typename A, typename B> using conditional_t = typename conditional<c, A, B>::type;
template <typename T> struct remove_reference { typedef T type; };
template <typename T> struct remove_reference<T&> { typedef T type; };
template <typename T> struct remove_reference<T&&> { typedef T type; };
template <typename T> struct remove_cv { typedef T type; };
template <typename T> struct remove_cv<const T> { typedef T type; };
template <typename T> using remove_cv_t = typename remove_cv<T>::type;
template <typename T> using remove_reference_t = typename remove_reference<T>::type;
template <typename T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <typename T> WW_HD constexpr remove_reference_t<T>&& move(T&& t) { return static_cast<remove_reference_t<T>&&>(t); }
template <typename T> WW_HD constexpr T&& forward(remove_reference_t<T>& t) { return static_cast<T&&>(t); }
template <typename T> WW_HD void swap(T&, T&);
template <typename T> struct numeric_limits {
  WW_HD static constexpr T max(); WW_HD static constexpr T min(); WW_HD static constexpr T lowest();
  WW_HD static constexpr T infinity(); WW_HD static constexpr T quiet_NaN(); WW_HD static constexpr T epsilon();
};
template <typename T> struct initializer_list { const T* begin_; size_t size_; };
template <typename T> struct vector {
  vector(); explicit vector(size_t); vector(size_t, const T&); vector(initializer_list<T>);
  T* data(); const T* data() const; size_t size() const; T& operator[](size_t); const T& operator[](size_t) const;
  void push_back(const T&); void resize(size_t); T* begin(); T* end(); bool empty() const; T& back();
};
template <typename T, size_t n> struct array { T elements[n]; WW_HD T& operator[](size_t); WW_HD const T& operator[](size_t) const; };
struct string { string(); string(const char*); const char* c_str() const; size_t size() const; string operator+(const string&) const; };
string to_string(int);
struct runtime_error { runtime_error(const char*); runtime_error(const string&); };
struct invalid_argument { invalid_argument(const char*); invalid_argument(const string&); };
struct once_flag {};
}  // namespace std
