// What CUDA adds to the global namespace of host code: min and max, device functions that are also constants' business,
// and the names of device libraries.
#pragma once

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
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
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
