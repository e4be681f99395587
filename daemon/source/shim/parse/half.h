// __half and __nv_bfloat16, their pairs and conversions.
#pragma once

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
