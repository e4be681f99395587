// Kernels on rows: out[N] or out[N, C] from in[N, C].
#include "tests/support/kernel_pair_family.h"
#include "tests/support/kernel_pair_forms.h"
#include "tests/unit/judge/specs.h"

namespace warpwright::testing {

using core::DType;

namespace {

// reduce(row, C) -> the row's value.
template <typename Reduce>
auto RowsTo(Reduce reduce) {
  return [reduce](FakeRun& run, auto zero) {
    using T = decltype(zero);
    const auto in = All<T>(run, "in");
    const size_t rows = Extent(run, "N"), columns = Extent(run, "C");
    std::vector<double> out(rows);
    for (size_t r = 0; r < rows; ++r) out[r] = static_cast<double>(reduce(in.data() + r * columns, columns));
    run.SetValues("out", out);
  };
}
// map(row, C, out)
template <typename Map>
auto RowsInto(Map map) {
  return [map](FakeRun& run, auto zero) {
    using T = decltype(zero);
    const auto in = All<T>(run, "in");
    const size_t rows = Extent(run, "N"), columns = Extent(run, "C");
    std::vector<T> out(rows * columns);
    for (size_t r = 0; r < rows; ++r) map(in.data() + r * columns, columns, out.data() + r * columns);
    run.SetValues("out", {out.begin(), out.end()});
  };
}

template <size_t kLanes>
struct Lanes {
  template <typename T>
  T operator()(const T* x, size_t n) const {
    T lanes[kLanes] = {};
    for (size_t i = 0; i < n; ++i) lanes[i % kLanes] += x[i];
    for (size_t s = kLanes / 2; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) lanes[l] += lanes[l + s];
    return lanes[0];
  }
};
const auto kKahan = [](const float* x, size_t n) {
  float sum = 0, lost = 0;
  for (size_t i = 0; i < n; ++i) {
    const float next = x[i] - lost, total = sum + next;
    lost = std::isfinite(total) ? (total - sum) - next : 0;
    sum = total;
  }
  return sum;
};
template <size_t kBlock>
struct Blocked {
  float operator()(const float* x, size_t n) const {
    float sum = 0;
    for (size_t b = 0; b < n; b += kBlock) {
      float block = 0;
      for (size_t i = b; i < std::min(n, b + kBlock); ++i) block += x[i];
      sum += block;
    }
    return sum;
  }
};
float Pairwise(const float* x, size_t n) {
  if (n == 0) return 0;
  if (n == 1) return x[0];
  return Pairwise(x, n / 2) + Pairwise(x + n / 2, n - n / 2);
}
const auto kBackwards = [](const float* x, size_t n) {
  float sum = 0;
  while (n-- > 0) sum += x[n];
  return sum;
};
const auto kSplit = [](const float* x, size_t n) {  // seven pieces, added from the last
  float sum = 0;
  for (size_t p = 7; p-- > 0;) sum += kSerial(x + n * p / 7, n * (p + 1) / 7 - n * p / 7);
  return sum;
};
const auto kExact = [](const float* x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  return static_cast<float>(sum);
};
// The original sums in f64, which shows in its conversions.
FakeKernel WideSum() {
  return [](FakeRun& run) {
    run.uses.insert({{core::CodeUseKind::kConversion, core::NumberFormat::kF32, {}}, "", "", 0});
    const auto sum = [](const auto* x, size_t n) {
      double total = 0;
      for (size_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
      return total;
    };
    Kernel(RowsTo(sum))(run);
  };
}

template <int kBits>
struct NarrowInputs {
  float operator()(const float* x, size_t n) const {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += Narrow<kBits>(x[i]);
    return sum;
  }
};
template <int kBits>
struct NarrowSum {
  float operator()(const float* x, size_t n) const {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum = Narrow<kBits>(sum + x[i]);
    return sum;
  }
};
const auto kShort = [](const float* x, size_t n) { return kSerial(x, n - n / 50); };
const auto kWithoutLast = [](const float* x, size_t n) { return kSerial(x, n > 1 ? n - 1 : n); };
const auto kSampled = [](const float* x, size_t n) { return 2 * kSerial(x, n / 2); };

template <typename Exp>
auto SoftmaxBy(Exp exp) {
  return [exp](const auto* x, size_t n, auto* out) {
    using T = std::remove_cvref_t<decltype(*x)>;
    T largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; ++i) largest = std::fmax(largest, x[i]);
    for (size_t i = 0; i < n; ++i) sum += exp(x[i] - largest);
    for (size_t i = 0; i < n; ++i) out[i] = exp(x[i] - largest) / sum;
  };
}
const auto kExp = [](auto x) { return std::exp(x); };
// One pass: the sums of kLanes lanes are rescaled whenever their maximum grows, and merged.
template <size_t kLanes>
struct OnlineSoftmax {
  void operator()(const float* x, size_t n, float* out) const {
    float largest[kLanes], sum[kLanes] = {};
    std::fill_n(largest, kLanes, -INFINITY);
    const auto scale = [](float from, float to) { return from == to ? 1.0f : std::exp(from - to); };
    for (size_t i = 0; i < n; ++i) {
      const size_t l = i % kLanes;
      const float m = std::fmax(largest[l], x[i]);
      sum[l] = sum[l] * scale(largest[l], m) + (x[i] == -INFINITY && m == x[i] ? 0 : std::exp(x[i] - m));
      largest[l] = m;
    }
    for (size_t l = 1; l < kLanes; ++l) {
      const float m = std::fmax(largest[0], largest[l]);
      sum[0] = sum[0] * scale(largest[0], m) + sum[l] * scale(largest[l], m);
      largest[0] = m;
    }
    const float inverse = 1 / sum[0];
    for (size_t i = 0; i < n; ++i) out[i] = std::exp(x[i] - largest[0]) * inverse;
  }
};
const auto kExp2Softmax = [](const float* x, size_t n, float* out) {
  constexpr float kLog2E = 1.44269504f;
  float largest = -INFINITY, sums[32] = {};
  for (size_t i = 0; i < n; ++i) largest = std::fmax(largest, x[i]);
  for (size_t i = 0; i < n; ++i) sums[i % 32] += std::exp2((x[i] - largest) * kLog2E);
  const float inverse = 1 / Lanes<1>()(sums, 32);
  for (size_t i = 0; i < n; ++i) out[i] = std::exp2((x[i] - largest) * kLog2E) * inverse;
};
const auto kUnshifted = [](const float* x, size_t n, float* out) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(x[i]);
  for (size_t i = 0; i < n; ++i) out[i] = std::exp(x[i]) / sum;
};
const auto kWithoutSmall = [](float x) { return x < -6 ? 0.0f : std::exp(x); };
const auto kRoughExp = [](float x) { return Narrow<12>(std::exp(x)); };

template <typename Mean, typename Squares>
auto Norm(Mean sum_of, Squares squares_of, double epsilon, int lost = 0) {
  return [=](const auto* x, size_t n, auto* out) {
    using T = std::remove_cvref_t<decltype(*x)>;
    const T count = static_cast<T>(n), mean = sum_of(x, n) / count;
    std::vector<T> squares(n);
    for (size_t i = 0; i < n; ++i) squares[i] = (x[i] - mean) * (x[i] - mean);
    const T variance = squares_of(squares.data(), n) / (count - static_cast<T>(lost));
    const T scale = 1 / std::sqrt(variance + static_cast<T>(static_cast<float>(epsilon)));
    for (size_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale;
  };
}
// One pass in lanes, merged as in Chan, Golub and LeVeque.
template <size_t kLanes>
struct Welford {
  void operator()(const float* x, size_t n, float* out) const {
    float mean[kLanes] = {}, m2[kLanes] = {}, count[kLanes] = {};
    for (size_t i = 0; i < n; ++i) {
      const size_t l = i % kLanes;
      count[l] += 1;
      const float d = x[i] - mean[l];
      mean[l] += d / count[l];
      m2[l] += d * (x[i] - mean[l]);
    }
    for (size_t s = kLanes / 2; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) {
        const float both = count[l] + count[l + s];
        if (both == 0) continue;
        const float d = mean[l + s] - mean[l], share = count[l + s] / both;
        m2[l] += m2[l + s] + d * d * count[l] * share;
        mean[l] += d * share;
        count[l] = both;
      }
    const float scale = 1 / std::sqrt(m2[0] / static_cast<float>(n) + 1e-5f);
    for (size_t i = 0; i < n; ++i) out[i] = (x[i] - mean[0]) * scale;
  }
};
const auto kOnePass = [](const float* x, size_t n, float* out) {  // E[x^2] - E[x]^2 cancels if the mean is large
  float sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i], squares += x[i] * x[i];
  const float mean = sum / static_cast<float>(n);
  const float scale = 1 / std::sqrt(squares / static_cast<float>(n) - mean * mean + 1e-5f);
  for (size_t i = 0; i < n; ++i) out[i] = (x[i] - mean) * scale;
};
template <typename Sum>
auto RmsNorm(Sum sum_of, double epsilon) {
  return [=](const auto* x, size_t n, auto* out) {
    using T = std::remove_cvref_t<decltype(*x)>;
    std::vector<T> squares(n);
    for (size_t i = 0; i < n; ++i) squares[i] = x[i] * x[i];
    const T scale =
        1 / std::sqrt(sum_of(squares.data(), n) / static_cast<T>(n) + static_cast<T>(static_cast<float>(epsilon)));
    for (size_t i = 0; i < n; ++i) out[i] = x[i] * scale;
  };
}
const auto kGelu = [](const auto* x, size_t n, auto* out) {
  using T = std::remove_cvref_t<decltype(*x)>;
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(0.5) * x[i] * (1 + std::erf(x[i] * static_cast<T>(0.70710678f)));
};
const auto kGeluByErfc = [](const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] * (0.5f * std::erfc(x[i] * -0.70710678f));
};
const auto kSigmoidGelu = [](const float* x, size_t n, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = x[i] / (1 + std::exp(-1.702f * x[i]));
};

const auto kBatchNorm = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto x = All<T>(run, "in"), mean = All<T>(run, "mean"), variance = All<T>(run, "var"),
             gamma = All<T>(run, "gamma"), beta = All<T>(run, "beta");
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i % mean.size();
    const T centred = (x[i] - mean[c]) / std::sqrt(variance[c] + static_cast<T>(1e-5f));
    out[i] = static_cast<double>(centred * gamma[c] + beta[c]);
  }
  run.SetValues("out", out);
};
// Folding the mean as well would turn infinite inputs into NaN.
void ScaledBatchNorm(FakeRun& run) {
  const auto x = All<float>(run, "in"), mean = All<float>(run, "mean"), variance = All<float>(run, "var"),
             gamma = All<float>(run, "gamma"), beta = All<float>(run, "beta");
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i % mean.size();
    const float scale = gamma[c] * (1 / std::sqrt(variance[c] + 1e-5f));
    out[i] = static_cast<double>(std::fma(x[i] - mean[c], scale, beta[c]));
  }
  run.SetValues("out", out);
}

}  // namespace

void AddSums(std::vector<KernelPair>& pairs) {
  const auto rows = [](auto reduce) -> FakeKernel { return [reduce](FakeRun& run) { RowsTo(reduce)(run, float{}); }; };
  const Family sums = {RowSumSpec(DType::kF32, 40, 700), SumForm(), Kernel(RowsTo(kSerial))};
  Add(pairs, sums, true,
      {{"tree sum", rows(Lanes<32>())},
       {"Kahan sum", rows(kKahan)},
       {"sum of blocks of 64", rows(Blocked<64>())},
       {"pairwise sum", rows(Pairwise)},
       {"sum of groups of four", rows(Blocked<4>())},
       {"sum of split rows", rows(kSplit)},
       {"sum backwards", rows(kBackwards)},
       {"exact sum", rows(kExact)}});
  Add(pairs, sums, false,
      {{"sum of 98 %", rows(kShort)},
       {"sum without the last", rows(kWithoutLast)},
       {"sum of a sample", rows(kSampled)},
       {"sum of f16 values", rows(NarrowInputs<10>())},
       {"sum in f16", rows(NarrowSum<10>())},
       {"sum in bf16", rows(NarrowSum<7>())}});
  Add(pairs, {RowSumSpec(DType::kF32, 40, 700), SumForm(), Kernel(RowsTo(Lanes<32>()))}, true,
      {{"groups of 128 for a tree", rows(Blocked<128>())}});
  Add(pairs, {RowSumSpec(DType::kF32, 1, 20'000), SumForm(), Kernel(RowsTo(kSerial))}, true,
      {{"one sum by a tree", rows(Lanes<256>())}, {"one sum exactly by blocks", rows(kExact)}});
  Add(pairs, {RowSumSpec(DType::kF32, 80, 700), SumForm(), WideSum()}, false, {{"f32 for f64 sums", rows(kSerial)}});
  pairs.back().needs_form = true;
}

void AddNorms(std::vector<KernelPair>& pairs) {
  const auto rows = [](auto map) -> FakeKernel { return [map](FakeRun& run) { RowsInto(map)(run, float{}); }; };
  const Family softmax = {SoftmaxSpec(24, 400), SoftmaxForm(), Kernel(RowsInto(SoftmaxBy(kExp)))};
  Add(pairs, softmax, true,
      {{"online softmax", rows(OnlineSoftmax<1>())},
       {"online softmax in lanes", rows(OnlineSoftmax<8>())},
       {"softmax by exp2", rows(kExp2Softmax)}});
  Add(pairs, softmax, false,
      {{"unshifted softmax", rows(kUnshifted)},
       {"softmax without small terms", rows(SoftmaxBy(kWithoutSmall))},
       {"softmax of a rough exponential", rows(SoftmaxBy(kRoughExp))}});
  const Family norm = {SoftmaxSpec(24, 320), NormForm(true, 1e-5), Kernel(RowsInto(Norm(kSerial, kSerial, 1e-5)))};
  Add(pairs, norm, true,
      {{"Welford's layer norm", rows(Welford<1>())},
       {"Welford's layer norm in lanes", rows(Welford<32>())},
       {"layer norm in lanes", rows(Norm(Lanes<32>(), Lanes<32>(), 1e-5))}});
  Add(pairs, norm, false,
      {{"one-pass norm", rows(kOnePass)},
       {"norm of n - 1", rows(Norm(kSerial, kSerial, 1e-5, 1))},
       {"norm of f16 sums", rows(Norm(NarrowSum<10>(), kSerial, 1e-5))}});
  const Family rms = {SoftmaxSpec(24, 320), NormForm(false, 1e-6), Kernel(RowsInto(RmsNorm(kSerial, 1e-6)))};
  Add(pairs, rms, true, {{"RMS norm in lanes", rows(RmsNorm(Lanes<128>(), 1e-6))}});
  Add(pairs, rms, false, {{"RMS norm without epsilon", rows(RmsNorm(kSerial, 0))}});
  const Family gelu = {SoftmaxSpec(40, 100), GeluForm(), Kernel(RowsInto(kGelu))};
  Add(pairs, gelu, true, {{"GELU by erfc", rows(kGeluByErfc)}});
  Add(pairs, gelu, false, {{"GELU by a sigmoid", rows(kSigmoidGelu)}});
  Add(pairs, {BatchNormSpec(), BatchNormForm(), Kernel(kBatchNorm)}, true,
      {{"batch norm by a multiplication", ScaledBatchNorm}});
}

}  // namespace warpwright::testing
