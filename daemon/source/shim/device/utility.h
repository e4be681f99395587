// What kernels use of <utility>. NVIDIA's <cuda/std/utility> would cost every compilation 0.7 s.
#pragma once
#include "ww_device/algorithm.h"
#include "ww_device/type_traits.h"
namespace std {
template <typename T>
__host__ __device__ T&& declval() noexcept;
template <typename T, typename U = T>
__host__ __device__ constexpr T exchange(T& object, U&& value) {
  T old = static_cast<T&&>(object);
  object = static_cast<U&&>(value);
  return old;
}
template <typename A, typename B>
struct pair {
  typedef A first_type;
  typedef B second_type;
  A first;
  B second;
  __host__ __device__ constexpr pair() : first(), second() {}
  __host__ __device__ constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <typename C, typename D>
  __host__ __device__ constexpr pair(const pair<C, D>& other) : first(other.first), second(other.second) {}
};
template <typename A, typename B>
pair(A, B) -> pair<A, B>;
template <typename A, typename B>
__host__ __device__ constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) {
  return pair<decay_t<A>, decay_t<B>>(a, b);
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator==(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first == y.first && x.second == y.second;
}
template <typename A, typename B>
__host__ __device__ constexpr bool operator<(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}
template <typename T, T... values>
struct integer_sequence {
  typedef T value_type;
  __host__ __device__ static constexpr size_t size() noexcept { return sizeof...(values); }
};
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;
template <typename T, unsigned long long n, T... values>
struct ww_make_sequence : ww_make_sequence<T, n - 1, T(n - 1), values...> {};
template <typename T, T... values>
struct ww_make_sequence<T, 0, values...> {
  typedef integer_sequence<T, values...> type;
};
template <typename T, T n>
using make_integer_sequence = typename ww_make_sequence<T, static_cast<unsigned long long>(n)>::type;
template <size_t n>
using make_index_sequence = make_integer_sequence<size_t, n>;
template <typename... Ts>
using index_sequence_for = make_index_sequence<sizeof...(Ts)>;
}  // namespace std
