// entry: run
// buffer: x f32 64
// expect: launch k<float, Op::kMax>(x, 64) 1x1x1 1x1x1
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
using namespace std;
enum class Op { kMax, kMin };
template <Op op, typename T> __device__ T start() {
  if constexpr (op == Op::kMax) return -numeric_limits<T>::infinity();
  else return numeric_limits<T>::infinity();
}
template <typename T, Op op, typename = enable_if_t<is_floating_point<T>::value>> __global__ void k(T* x, uint32_t n) {
  assert(n <= 64);
  T v = start<op, T>();
  for (uint32_t i = 0; i < n; ++i) v = op == Op::kMax ? std::max(v, x[i]) : std::min(v, x[i]);
  x[threadIdx.x] = v + std::exp(x[threadIdx.x]) + FLT_MAX * 0 + (INT_MAX - INT_MAX) + (float)M_PI;
}
void run(float* x) {
  map<string, int> sizes = {{"a", 64}};
  cerr << "running" << endl;
  k<float, Op::kMax><<<1, 1>>>(x, static_cast<uint32_t>(sizes["a"]));
}
