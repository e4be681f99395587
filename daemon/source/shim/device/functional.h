#pragma once
namespace std {
#define WW_FUNCTOR(name, op)                                                                       \
  template <typename T = void>                                                                     \
  struct name {                                                                                    \
    __host__ __device__ constexpr auto operator()(const T& a, const T& b) const { return a op b; } \
  };                                                                                               \
  template <>                                                                                      \
  struct name<void> {                                                                              \
    template <typename A, typename B>                                                              \
    __host__ __device__ constexpr auto operator()(const A& a, const B& b) const {                  \
      return a op b;                                                                               \
    }                                                                                              \
  };
WW_FUNCTOR(plus, +)
WW_FUNCTOR(minus, -)
WW_FUNCTOR(multiplies, *)
WW_FUNCTOR(divides, /)
WW_FUNCTOR(modulus, %)
WW_FUNCTOR(less, <)
WW_FUNCTOR(greater, >)
WW_FUNCTOR(less_equal, <=)
WW_FUNCTOR(greater_equal, >=)
WW_FUNCTOR(equal_to, ==)
WW_FUNCTOR(not_equal_to, !=)
WW_FUNCTOR(logical_and, &&)
WW_FUNCTOR(logical_or, ||)
WW_FUNCTOR(bit_and, &)
WW_FUNCTOR(bit_or, |)
WW_FUNCTOR(bit_xor, ^)
#undef WW_FUNCTOR
}  // namespace std
