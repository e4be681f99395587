// Matrix products and attention.
#include <cstring>

#include "tests/support/kernel_pair_family.h"
#include "tests/support/kernel_pair_forms.h"

namespace warpwright::testing {

using core::DType;

namespace {

// dot(a, stride of a, b, stride of b, K) over out[N, M] = in[N, C] w[C, M]
template <typename Dot>
auto Matmul(Dot dot) {
  return [dot](FakeRun& run, auto zero) {
    using T = decltype(zero);
    const auto a = All<T>(run, "in"), b = All<T>(run, "w");
    const size_t rows = Extent(run, "N"), inner = Extent(run, "C"), columns = Extent(run, "M");
    std::vector<double> out(rows * columns);
    const size_t sums = inner > 0 ? out.size() : 0;  // those of nothing are 0, and no element can be pointed at
    for (size_t i = 0; i < sums; ++i)
      out[i] = static_cast<double>(dot(a.data() + i / columns * inner, b.data() + i % columns, columns, inner));
    run.SetValues("out", out);
  };
}
const auto kDot = [](const auto* a, const auto* b, size_t stride, size_t n) {
  std::remove_cvref_t<decltype(*a)> sum = 0;
  for (size_t k = 0; k < n; ++k) sum += a[k] * b[k * stride];
  return sum;
};
template <size_t kChains>
struct ChainedDot {
  float operator()(const float* a, const float* b, size_t stride, size_t n) const {
    float sums[kChains] = {};
    for (size_t k = 0; k < n; ++k) sums[k % kChains] = std::fma(a[k], b[k * stride], sums[k % kChains]);
    return kSerial(sums, kChains);
  }
};
const auto kDotOfFours = [](const float* a, const float* b, size_t stride, size_t n) {
  float sum = 0;
  size_t k = 0;
  for (; k + 4 <= n; k += 4)
    sum += (a[k] * b[k * stride] + a[k + 1] * b[(k + 1) * stride]) +
           (a[k + 2] * b[(k + 2) * stride] + a[k + 3] * b[(k + 3) * stride]);
  for (; k < n; ++k) sum += a[k] * b[k * stride];
  return sum;
};
const auto kSplitDot = [](const float* a, const float* b, size_t stride, size_t n) {
  const size_t half = n / 2;
  return ChainedDot<1>()(a + half, b + half * stride, stride, n - half) + ChainedDot<1>()(a, b, stride, half);
};
const auto kTf32Dot = [](const float* a, const float* b, size_t stride, size_t n) {
  float sum = 0;
  for (size_t k = 0; k < n; ++k) sum += Narrow<10>(a[k]) * Narrow<10>(b[k * stride]);
  return sum;
};
const auto kHalfDot = [](const float* a, const float* b, size_t stride, size_t n) {  // the running sum in f16
  float sum = 0;
  for (size_t k = 0; k < n; ++k) sum = core::HalfToFloat(core::FloatToHalf(sum + a[k] * b[k * stride]));
  return sum;
};
const auto kTruncatedDot = [](const float* a, const float* b, size_t stride, size_t n) {  // products cut to 16 bits
  float sum = 0;
  for (size_t k = 0; k < n; ++k) {
    float product = a[k] * b[k * stride];
    uint32_t bits = 0;
    std::memcpy(&bits, &product, 4);
    bits &= 0xffffff00u;
    std::memcpy(&product, &bits, 4);
    sum += product;
  }
  return sum;
};

// softmax(q k^T / 4) v; the scores' dot products and the weights are given.
template <typename Dot, typename Weight>
auto AttentionBy(Dot dot, Weight weight) {
  return [=](FakeRun& run, auto zero) {
    using T = decltype(zero);
    const auto q = All<T>(run, "q"), k = All<T>(run, "k"), v = All<T>(run, "v");
    const size_t n = Extent(run, "N"), d = Extent(run, "D");
    std::vector<T> scores(n);
    std::vector<double> results(n * d);
    for (size_t r = 0; r < n; ++r) {
      T largest = -INFINITY, sum = 0;
      for (size_t j = 0; j < n; ++j) {
        scores[j] = dot(q.data() + r * d, k.data() + j * d, size_t{1}, d) * static_cast<T>(0.25);
        largest = std::fmax(largest, scores[j]);
      }
      for (T& score : scores) sum += score = std::exp(score - largest);
      for (size_t c = 0; c < d; ++c) {
        T out = 0;
        for (size_t j = 0; j < n; ++j) out += weight(scores[j] / sum) * v[j * d + c];
        results[r * d + c] = static_cast<double>(out);
      }
    }
    run.SetValues("out", results);
  };
}
// One pass over blocks of keys, rescaling what was summed; divided by the sum at the end.
template <typename Dot, size_t kBlock>
void Streaming(FakeRun& run, Dot dot) {
  const auto q = All<float>(run, "q"), k = All<float>(run, "k"), v = All<float>(run, "v");
  const size_t n = Extent(run, "N"), d = Extent(run, "D");
  std::vector<double> results(n * d);
  for (size_t r = 0; r < n; ++r) {
    float largest = -INFINITY, sum = 0;
    std::vector<float> out(d);
    for (size_t b = 0; b < n; b += kBlock) {
      const size_t end = std::min(n, b + kBlock);
      float scores[kBlock], m = largest;
      for (size_t j = b; j < end; ++j) {
        scores[j - b] = dot(q.data() + r * d, k.data() + j * d, size_t{1}, d) * 0.25f;
        m = std::fmax(m, scores[j - b]);
      }
      const float scale = largest == m ? 1 : std::exp(largest - m);
      sum *= scale;
      for (float& x : out) x = scale == 0 ? 0 * x : x * scale;
      for (size_t j = b; j < end; ++j) {
        const float p = std::exp(scores[j - b] - m);
        sum += p;
        for (size_t c = 0; c < d; ++c) out[c] = std::fma(p, v[j * d + c], out[c]);
      }
      largest = m;
    }
    for (size_t c = 0; c < d; ++c) results[r * d + c] = static_cast<double>(out[c] * (1 / sum));
  }
  run.SetValues("out", results);
}

}  // namespace

void AddProducts(std::vector<KernelPair>& pairs) {
  const auto product = [](auto dot) -> FakeKernel { return [dot](FakeRun& run) { Matmul(dot)(run, float{}); }; };
  const auto family = [](DType dtype) { return Family{MatmulSpec(dtype), MatmulForm(dtype), Kernel(Matmul(kDot))}; };
  Add(pairs, family(DType::kF32), true,
      {{"product in four chains", product(ChainedDot<4>())},
       {"product of groups of four", product(kDotOfFours)},
       {"split-K product", product(kSplitDot)}});
  Add(pairs, family(DType::kF32), false,
      {{"tf32 product", product(kTf32Dot)}, {"product of truncated terms", product(kTruncatedDot)}});
  Add(pairs, family(DType::kF16), true, {{"f16 product in chains", product(ChainedDot<4>())}});
  Add(pairs, family(DType::kF16), false, {{"f16 product summed in f16", product(kHalfDot)}});
  Add(pairs, family(DType::kBF16), true, {{"bf16 product in chains", product(ChainedDot<8>())}});
  const auto plain = [](auto weight) { return weight; };
  const Family attention = {AttentionSpec(), AttentionForm(), Kernel(AttentionBy(kDot, plain))};
  Add(pairs, attention, true,
      {{"streaming attention", [](FakeRun& run) { Streaming<decltype(kDot), 16>(run, kDot); }},
       {"streaming attention of fours", [](FakeRun& run) { Streaming<decltype(kDotOfFours), 8>(run, kDotOfFours); }}});
  Add(pairs, attention, false, {{"attention with bf16 weights", [](FakeRun& run) {
                                   AttentionBy(kDot, [](float x) { return Narrow<7>(x); })(run, float{});
                                 }}});
}

}  // namespace warpwright::testing
