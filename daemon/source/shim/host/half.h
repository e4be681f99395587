// __half and __nv_bfloat16 for host code: exact conversions, round to nearest even; arithmetic through float.
#pragma once

#include <cstdint>
#include <cstring>

namespace ww {
inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float BitsFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint16_t ToHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
inline float FromHalf(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}
inline uint16_t ToBrain(float value) {
  const uint32_t bits = FloatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
inline float FromBrain(uint16_t bits) { return BitsFloat(static_cast<uint32_t>(bits) << 16); }
}  // namespace ww

#define WW_HALF_TYPE(type, pair, to, from)                                     \
  struct alignas(2) type {                                                     \
    uint16_t ww_bits;                                                          \
    type() = default;                                                          \
    type(float value) : ww_bits(::ww::to(value)) {}                            \
    type(double value) : ww_bits(::ww::to(static_cast<float>(value))) {}       \
    type(int value) : ww_bits(::ww::to(static_cast<float>(value))) {}          \
    type(unsigned value) : ww_bits(::ww::to(static_cast<float>(value))) {}     \
    type(long long value) : ww_bits(::ww::to(static_cast<float>(value))) {}    \
    operator float() const { return ::ww::from(ww_bits); }                     \
    type& operator+=(type o) { return *this = type(float(*this) + float(o)); } \
    type& operator-=(type o) { return *this = type(float(*this) - float(o)); } \
    type& operator*=(type o) { return *this = type(float(*this) * float(o)); } \
    type& operator/=(type o) { return *this = type(float(*this) / float(o)); } \
  };                                                                           \
  struct alignas(4) pair {                                                     \
    type x, y;                                                                 \
    pair() = default;                                                          \
    pair(type a, type b) : x(a), y(b) {}                                       \
  };
WW_HALF_TYPE(__half, __half2, ToHalf, FromHalf)
WW_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, ToBrain, FromBrain)
#undef WW_HALF_TYPE
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define WW_HALF_OPERATORS(type)                                                               \
  inline type operator+(type a, type b) { return type(float(a) + float(b)); }                 \
  inline type operator-(type a, type b) { return type(float(a) - float(b)); }                 \
  inline type operator*(type a, type b) { return type(float(a) * float(b)); }                 \
  inline type operator/(type a, type b) { return type(float(a) / float(b)); }                 \
  inline type operator-(type a) { return type(-float(a)); }                                   \
  inline bool operator==(type a, type b) { return float(a) == float(b); }                     \
  inline bool operator!=(type a, type b) { return float(a) != float(b); }                     \
  inline bool operator<(type a, type b) { return float(a) < float(b); }                       \
  inline bool operator>(type a, type b) { return float(a) > float(b); }                       \
  inline bool operator<=(type a, type b) { return float(a) <= float(b); }                     \
  inline bool operator>=(type a, type b) { return float(a) >= float(b); }                     \
  inline type __hadd(type a, type b) { return a + b; }                                        \
  inline type __hsub(type a, type b) { return a - b; }                                        \
  inline type __hmul(type a, type b) { return a * b; }                                        \
  inline type __hdiv(type a, type b) { return a / b; }                                        \
  inline type __hfma(type a, type b, type c) { return type(float(a) * float(b) + float(c)); } \
  inline type __hmax(type a, type b) { return a < b ? b : a; }                                \
  inline type __hmin(type a, type b) { return b < a ? b : a; }                                \
  inline type __hneg(type a) { return -a; }                                                   \
  inline bool __hgt(type a, type b) { return a > b; }                                         \
  inline bool __hlt(type a, type b) { return a < b; }
WW_HALF_OPERATORS(__half)
WW_HALF_OPERATORS(__nv_bfloat16)
#undef WW_HALF_OPERATORS
inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline int __half2int_rn(__half a) { return static_cast<int>(__builtin_rintf(a)); }
inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline __nv_bfloat16 __float2bfloat16(float a) { return a; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
inline __nv_bfloat16 __double2bfloat16(double a) { return a; }
inline unsigned short __half_as_ushort(__half a) { return a.ww_bits; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.ww_bits; }
inline __half __ushort_as_half(unsigned short a) {
  __half h;
  h.ww_bits = a;
  return h;
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  __nv_bfloat16 h;
  h.ww_bits = a;
  return h;
}
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline float __low2float(__half2 a) { return a.x; }
inline float __high2float(__half2 a) { return a.y; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
