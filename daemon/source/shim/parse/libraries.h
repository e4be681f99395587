// Cooperative groups, wmma and what of the standard library kernels and launchers name.
#pragma once

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
