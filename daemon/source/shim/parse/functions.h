// Functions of device code: barriers, mathematics, bits, loads, shuffles, atomics.
#pragma once

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
WW_HD double __dadd_rn(double, double);
WW_HD double __dsub_rn(double, double);
WW_HD double __dmul_rn(double, double);
WW_HD double __ddiv_rn(double, double);
WW_HD double __fma_rn(double, double, double);
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
