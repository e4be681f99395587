// The CUDA runtime as a launcher sees it, of our own making: every call is recorded or answered, nothing is executed.
// Error codes are CUDA's, so that error-check macros and fallback branches behave as on the device. The header is
// precompiled and given to every host slice with -include. The standard headers come first: shared_ptr's uses
// __noinline__ as an attribute name.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "half.h"
#include "launch.h"

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_CB
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

// ---- vectors
// -----------------------------------------------------------------------------------------------------------------
#define WW_VECTOR(T, name)                                           \
  struct name##1 {                                                   \
    T x;                                                             \
  };                                                                 \
  struct alignas(2 * sizeof(T)) name##2 {                            \
    T x, y;                                                          \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 {  \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
WW_VECTOR(signed char, char)
WW_VECTOR(unsigned char, uchar)
WW_VECTOR(short, short)
WW_VECTOR(unsigned short, ushort)
WW_VECTOR(int, int)
WW_VECTOR(unsigned int, uint)
WW_VECTOR(long, long)
WW_VECTOR(unsigned long, ulong)
WW_VECTOR(long long, longlong)
WW_VECTOR(unsigned long long, ulonglong)
WW_VECTOR(float, float)
WW_VECTOR(double, double)
#undef WW_VECTOR
typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  operator uint3() const { return {x, y, z}; }
};

// ---- errors
// ------------------------------------------------------------------------------------------------------------------
enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- streams and events
// ------------------------------------------------------------------------------------------------------
struct CUstream_st;
struct CUevent_st;
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;
typedef CUstream_st* CUstream;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
enum {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaDeviceScheduleAuto = 0
};
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();

// ---- memory
// ------------------------------------------------------------------------------------------------------------------
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
namespace ww {
// The line of the caller goes with what may have to be refused.
cudaError_t Allocate(void** pointer, size_t bytes, const char* file, int line);
cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, const char* file,
                 int line);
cudaError_t Set(void* to, int value, size_t bytes, cudaStream_t stream, const char* file, int line);
cudaError_t CopyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                         cudaStream_t stream, const char* file, int line);
cudaError_t CopyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, const char* file, int line);
}  // namespace ww
#define WW_HERE const char *ww_file = __builtin_FILE(), int ww_line = __builtin_LINE()
template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t bytes, WW_HERE) {
  return ww::Allocate(reinterpret_cast<void**>(pointer), bytes, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t, WW_HERE) {
  return ww::Allocate(reinterpret_cast<void**>(pointer), bytes, ww_file, ww_line);
}
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned = 0) {
  *pointer = static_cast<T*>(std::calloc(1, bytes));
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return cudaMallocHost(pointer, bytes);
}
cudaError_t cudaFreeHost(void* pointer);
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, WW_HERE) {
  return ww::Copy(to, from, bytes, kind, nullptr, ww_file, ww_line);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = 0, WW_HERE) {
  return ww::Copy(to, from, bytes, kind, stream, ww_file, ww_line);
}
inline cudaError_t cudaMemset(void* to, int value, size_t bytes, WW_HERE) {
  return ww::Set(to, value, bytes, nullptr, ww_file, ww_line);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = 0, WW_HERE) {
  return ww::Set(to, value, bytes, stream, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, WW_HERE) {
  return ww::CopyToSymbol(&symbol, from, bytes, offset, kind, nullptr, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                    cudaStream_t stream = 0, WW_HERE) {
  return ww::CopyToSymbol(&symbol, from, bytes, offset, kind, stream, ww_file, ww_line);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost, WW_HERE) {
  return ww::CopyFromSymbol(to, &symbol, bytes, offset, ww_file, ww_line);
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

// ---- the device
// --------------------------------------------------------------------------------------------------------------
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  size_t totalConstMem;
  int major, minor, multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, l2CacheSize,
      persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, asyncEngineCount, unifiedAddressing, memoryBusWidth,
      managedMemory, cooperativeLaunch;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111
};
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

// ---- kernels
// -----------------------------------------------------------------------------------------------------------------
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum { cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1 = 0, cudaSharedmemCarveoutMaxShared = 100 };
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};
namespace ww {
void Push(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0, WW_HERE);
cudaError_t LaunchByAddress(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                            cudaStream_t stream, bool cooperative, const char* file, int line);
cudaError_t SetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t GetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t ActiveBlocks(int* blocks, const void* kernel, int block_size, size_t shared_bytes);
cudaError_t PotentialBlockSize(int* grid, int* block, const void* kernel, size_t shared_bytes, int limit);
template <typename K>
const void* AddressOf(K kernel) {
  return reinterpret_cast<const void*>(kernel);
}
}  // namespace ww
template <typename K>
cudaError_t cudaLaunchKernel(K* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = 0, WW_HERE) {
  return ww::LaunchByAddress(ww::AddressOf(kernel), grid, block, arguments, shared_bytes, stream, false, ww_file,
                             ww_line);
}
template <typename K>
cudaError_t cudaLaunchCooperativeKernel(K* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = 0, WW_HERE) {
  return ww::LaunchByAddress(ww::AddressOf(kernel), grid, block, arguments, shared_bytes, stream, true, ww_file,
                             ww_line);
}
template <typename K>
cudaError_t cudaFuncSetAttribute(K* kernel, cudaFuncAttribute attribute, int value) {
  return ww::SetAttribute(ww::AddressOf(kernel), attribute, value);
}
template <typename K>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, K* kernel) {
  return ww::GetAttributes(attributes, ww::AddressOf(kernel));
}
template <typename K>
cudaError_t cudaFuncSetCacheConfig(K*, cudaFuncCache) {
  return cudaSuccess;
}
template <typename K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K kernel, int block_size, size_t shared_bytes) {
  return ww::ActiveBlocks(blocks, ww::AddressOf(kernel), block_size, shared_bytes);
}
template <typename K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K kernel, size_t shared_bytes = 0,
                                               int limit = 0) {
  return ww::PotentialBlockSize(grid, block, ww::AddressOf(kernel), shared_bytes, limit);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);

// ---- what CUDA adds to the global namespace
// ----------------------------------------------------------------------------------
#define WW_MIN_MAX(A, B, R)                                                                                        \
  inline R min(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); } \
  inline R max(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); }
WW_MIN_MAX(int, int, int)
WW_MIN_MAX(unsigned, unsigned, unsigned)
WW_MIN_MAX(int, unsigned, unsigned)
WW_MIN_MAX(unsigned, int, unsigned)
WW_MIN_MAX(long, long, long)
WW_MIN_MAX(unsigned long, unsigned long, unsigned long)
WW_MIN_MAX(long, unsigned long, unsigned long)
WW_MIN_MAX(unsigned long, long, unsigned long)
WW_MIN_MAX(long long, long long, long long)
WW_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
WW_MIN_MAX(float, float, float)
WW_MIN_MAX(double, double, double)
WW_MIN_MAX(float, double, double)
WW_MIN_MAX(double, float, double)
#undef WW_MIN_MAX
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __saturatef(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
inline int __float_as_int(float x) { return static_cast<int>(ww::FloatBits(x)); }
inline unsigned __float_as_uint(float x) { return ww::FloatBits(x); }
inline float __int_as_float(int x) { return ww::BitsFloat(static_cast<uint32_t>(x)); }
inline float __uint_as_float(unsigned x) { return ww::BitsFloat(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
template <typename T>
T __ldg(const T* pointer) {
  return *pointer;
}

// Types and names of device libraries that signatures, aliases and using directives mention; kernels' bodies are not
// compiled here. Sizes are the library's, for launchers allocate by them.
struct curandStateXORWOW {
  alignas(8) unsigned char ww_state[48];
};
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
struct curandStatePhilox4_32_10 {
  alignas(16) unsigned char ww_state[64];
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct __nv_fp8_e4m3 {
  unsigned char __x;
};
struct __nv_fp8_e5m2 {
  unsigned char __x;
};
namespace cooperative_groups {
struct thread_block;
struct grid_group;
}  // namespace cooperative_groups
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
namespace cuda {
namespace std {}
}  // namespace cuda
