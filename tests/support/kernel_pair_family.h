// What the kernels of pairs have in common, and the originals with their forms. Private to kernel_pair*.cpp.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/kernel_pairs.h"

namespace warpwright::testing {

// f<float>, or f<double> for the float64 shadow.
template <typename F>
FakeKernel Kernel(F f) {
  return [f](FakeRun& run) {
    if (run.in_f64("out")) f(run, double{});
    else f(run, float{});
  };
}
template <typename T>
std::vector<T> All(const FakeRun& run, const char* name) {
  const std::vector<double> values = run.Values(name);
  return {values.begin(), values.end()};
}
inline size_t Extent(const FakeRun& run, const char* name) { return static_cast<size_t>(run.Scalar(name)); }

inline const auto kSerial = [](const auto* x, size_t n) {
  std::remove_cvref_t<decltype(*x)> sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
};
template <int kBits>
float Narrow(float x) {  // to kBits of mantissa: 10 is tf32's and f16's, 7 bf16's
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  const float m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, kBits + 1)), exponent - kBits - 1);
}
struct Family {
  core::KernelSpec spec;
  core::Computation form;
  FakeKernel original;
};
inline void Add(std::vector<KernelPair>& pairs, const Family& family, bool honest,
                const std::vector<std::pair<std::string, FakeKernel>>& candidates) {
  for (const auto& [name, candidate] : candidates)
    pairs.push_back({name, honest, family.spec, family.form, family.original, candidate});
}

void AddSums(std::vector<KernelPair>& pairs);
void AddNorms(std::vector<KernelPair>& pairs);
void AddProducts(std::vector<KernelPair>& pairs);

}  // namespace warpwright::testing
