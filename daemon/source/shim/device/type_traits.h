// The traits that kernels use. NVIDIA's <cuda/std/type_traits> would cost every compilation 0.7 s.
#pragma once
namespace std {
template <typename T, T v>
struct integral_constant {
  static constexpr T value = v;
  typedef T value_type;
  typedef integral_constant type;
  __host__ __device__ constexpr operator T() const { return v; }
  __host__ __device__ constexpr T operator()() const { return v; }
};
template <bool v>
using bool_constant = integral_constant<bool, v>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <typename... Ts>
using void_t = void;
template <typename A, typename B>
struct is_same : false_type {};
template <typename A>
struct is_same<A, A> : true_type {};
template <typename A, typename B>
inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool c, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool c, typename T = void>
using enable_if_t = typename enable_if<c, T>::type;
template <bool c, typename A, typename B>
struct conditional {
  typedef A type;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  typedef B type;
};
template <bool c, typename A, typename B>
using conditional_t = typename conditional<c, A, B>::type;
template <typename T>
struct remove_const {
  typedef T type;
};
template <typename T>
struct remove_const<const T> {
  typedef T type;
};
template <typename T>
struct remove_volatile {
  typedef T type;
};
template <typename T>
struct remove_volatile<volatile T> {
  typedef T type;
};
template <typename T>
struct remove_cv {
  typedef typename remove_const<typename remove_volatile<T>::type>::type type;
};
template <typename T>
struct remove_reference {
  typedef T type;
};
template <typename T>
struct remove_reference<T&> {
  typedef T type;
};
template <typename T>
struct remove_reference<T&&> {
  typedef T type;
};
template <typename T>
struct remove_pointer {
  typedef T type;
};
template <typename T>
struct remove_pointer<T*> {
  typedef T type;
};
template <typename T>
struct remove_extent {
  typedef T type;
};
template <typename T, decltype(sizeof(0)) n>
struct remove_extent<T[n]> {
  typedef T type;
};
template <typename T>
struct add_const {
  typedef const T type;
};
template <typename T>
struct add_pointer {
  typedef typename remove_reference<T>::type* type;
};
template <typename T>
using remove_const_t = typename remove_const<T>::type;
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T>
using remove_extent_t = typename remove_extent<T>::type;
template <typename T>
struct remove_cvref {
  typedef remove_cv_t<remove_reference_t<T>> type;
};
template <typename T>
using remove_cvref_t = typename remove_cvref<T>::type;
template <typename T>
struct decay {
  typedef remove_cv_t<remove_reference_t<T>> type;
};
template <typename T>
using decay_t = typename decay<T>::type;
template <typename T>
struct is_floating_point : bool_constant<is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <typename T>
struct is_integral
    : bool_constant<is_same_v<remove_cv_t<T>, bool> || is_same_v<remove_cv_t<T>, char> ||
                    is_same_v<remove_cv_t<T>, signed char> || is_same_v<remove_cv_t<T>, unsigned char> ||
                    is_same_v<remove_cv_t<T>, short> || is_same_v<remove_cv_t<T>, unsigned short> ||
                    is_same_v<remove_cv_t<T>, int> || is_same_v<remove_cv_t<T>, unsigned> ||
                    is_same_v<remove_cv_t<T>, long> || is_same_v<remove_cv_t<T>, unsigned long> ||
                    is_same_v<remove_cv_t<T>, long long> || is_same_v<remove_cv_t<T>, unsigned long long>> {};
template <typename T>
struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <typename T>
struct is_void : is_same<remove_cv_t<T>, void> {};
template <typename T>
struct is_pointer : false_type {};
template <typename T>
struct is_pointer<T*> : true_type {};
template <typename T>
struct is_const : false_type {};
template <typename T>
struct is_const<const T> : true_type {};
template <typename T>
struct is_unsigned : bool_constant<is_integral<T>::value && (T(-1) > T(0))> {};
template <typename T>
struct is_signed : bool_constant<is_arithmetic<T>::value && (T(-1) < T(0))> {};
template <typename T>
struct is_enum : bool_constant<__is_enum(T)> {};
template <typename T>
struct is_class : bool_constant<__is_class(T)> {};
template <typename T>
struct is_empty : bool_constant<__is_empty(T)> {};
template <typename A, typename B>
struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <typename T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <typename A, typename B>
struct is_convertible : bool_constant<__is_convertible_to(A, B)> {};
template <typename T>
inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <typename T>
inline constexpr bool is_integral_v = is_integral<T>::value;
template <typename T>
inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T>
inline constexpr bool is_void_v = is_void<T>::value;
template <typename T>
inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <typename T>
inline constexpr bool is_const_v = is_const<T>::value;
template <typename T>
inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <typename T>
inline constexpr bool is_signed_v = is_signed<T>::value;
template <typename T>
inline constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;
template <typename A, typename B>
inline constexpr bool is_base_of_v = is_base_of<A, B>::value;
template <typename A, typename B>
inline constexpr bool is_convertible_v = is_convertible<A, B>::value;
template <typename...>
struct conjunction : true_type {};
template <typename A>
struct conjunction<A> : A {};
template <typename A, typename... B>
struct conjunction<A, B...> : conditional_t<bool(A::value), conjunction<B...>, A> {};
template <typename...>
struct disjunction : false_type {};
template <typename A>
struct disjunction<A> : A {};
template <typename A, typename... B>
struct disjunction<A, B...> : conditional_t<bool(A::value), A, disjunction<B...>> {};
template <typename A>
struct negation : bool_constant<!bool(A::value)> {};
template <typename... Ts>
inline constexpr bool conjunction_v = conjunction<Ts...>::value;
template <typename... Ts>
inline constexpr bool disjunction_v = disjunction<Ts...>::value;
template <typename T>
inline constexpr bool negation_v = negation<T>::value;
}  // namespace std
