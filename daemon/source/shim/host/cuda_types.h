// Types that all of the runtime's functions share: short integers, vectors, dim3, error codes.
#pragma once

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

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

// Name, CUDA's number, CUDA's text.
#define WW_ERRORS(X)                                                                  \
  X(cudaSuccess, 0, "no error")                                                       \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                     \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                    \
  X(cudaErrorInitializationError, 3, "initialization error")                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")               \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                         \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")         \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                    \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                     \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                            \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                   \
  X(cudaErrorNotReady, 600, "device not ready")                                       \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")         \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")    \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")           \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                        \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
  X(cudaErrorNotSupported, 801, "operation not supported")                            \
  X(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define WW_ERROR(name, number, text) name = number,
  WW_ERRORS(WW_ERROR)
#undef WW_ERROR
};
typedef enum cudaError cudaError_t;
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
