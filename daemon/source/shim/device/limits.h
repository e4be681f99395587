#pragma once
#include "ww_device/cfloat.h"
#include "ww_device/climits.h"
#include "ww_device/cmath.h"
namespace std {
template <typename T>
class numeric_limits {
 public:
  static constexpr bool is_specialized = false;
};
#define WW_INTEGER_LIMITS(T, low, high)                             \
  template <>                                                       \
  class numeric_limits<T> {                                         \
   public:                                                          \
    static constexpr bool is_specialized = true, is_integer = true; \
    static constexpr bool has_infinity = false;                     \
    __host__ __device__ static constexpr T min() { return low; }    \
    __host__ __device__ static constexpr T lowest() { return low; } \
    __host__ __device__ static constexpr T max() { return high; }   \
  };
WW_INTEGER_LIMITS(bool, false, true)
WW_INTEGER_LIMITS(char, -128, 127)
WW_INTEGER_LIMITS(signed char, -128, 127)
WW_INTEGER_LIMITS(unsigned char, 0, 255)
WW_INTEGER_LIMITS(short, -32768, 32767)
WW_INTEGER_LIMITS(unsigned short, 0, 65535)
WW_INTEGER_LIMITS(int, INT_MIN, INT_MAX)
WW_INTEGER_LIMITS(unsigned int, 0u, UINT_MAX)
WW_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX)
WW_INTEGER_LIMITS(unsigned long, 0ul, ULONG_MAX)
WW_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX)
WW_INTEGER_LIMITS(unsigned long long, 0ull, ULLONG_MAX)
#undef WW_INTEGER_LIMITS
template <>
class numeric_limits<float> {
 public:
  static constexpr bool is_specialized = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 24;
  __host__ __device__ static constexpr float min() { return FLT_MIN; }
  __host__ __device__ static constexpr float lowest() { return -FLT_MAX; }
  __host__ __device__ static constexpr float max() { return FLT_MAX; }
  __host__ __device__ static constexpr float epsilon() { return FLT_EPSILON; }
  __host__ __device__ static constexpr float infinity() { return __int_as_float(0x7f800000); }
  __host__ __device__ static constexpr float quiet_NaN() { return __int_as_float(0x7fffffff); }
};
template <>
class numeric_limits<double> {
 public:
  static constexpr bool is_specialized = true, is_integer = false, has_infinity = true;
  static constexpr int digits = 53;
  __host__ __device__ static constexpr double min() { return DBL_MIN; }
  __host__ __device__ static constexpr double lowest() { return -DBL_MAX; }
  __host__ __device__ static constexpr double max() { return DBL_MAX; }
  __host__ __device__ static constexpr double epsilon() { return DBL_EPSILON; }
  __host__ __device__ static constexpr double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
  __host__ __device__ static constexpr double quiet_NaN() { return __longlong_as_double(0x7ff8000000000000ll); }
};
}  // namespace std
