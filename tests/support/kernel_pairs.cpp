#include "tests/support/kernel_pairs.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/file.h"
#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/judge/specs.h"

namespace warpwright::testing {
namespace {

using core::DType;
using core::Function;
using core::ReduceOp;
using core::Role;

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
size_t Extent(const FakeRun& run, const char* name) { return static_cast<size_t>(run.Scalar(name)); }

// ---- rows: out[N] or out[N, C] from in[N, C] ----

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

const auto kSerial = [](const auto* x, size_t n) {
  std::remove_cvref_t<decltype(*x)> sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
};
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
    run.precision["to f32"] = {};
    const auto sum = [](const auto* x, size_t n) {
      double total = 0;
      for (size_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
      return total;
    };
    Kernel(RowsTo(sum))(run);
  };
}

template <int kBits>
float Narrow(float x) {  // to kBits of mantissa: 10 is tf32's and f16's, 7 bf16's
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  const float m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, kBits + 1)), exponent - kBits - 1);
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

// ---- products ----

// dot(a, stride of a, b, stride of b, K) over out[N, M] = in[N, C] w[C, M]
template <typename Dot>
auto Matmul(Dot dot) {
  return [dot](FakeRun& run, auto zero) {
    using T = decltype(zero);
    const auto a = All<T>(run, "in"), b = All<T>(run, "w");
    const size_t rows = Extent(run, "N"), inner = Extent(run, "C"), columns = Extent(run, "M");
    std::vector<double> out(rows * columns);
    for (size_t i = 0; i < out.size(); ++i)
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

// ---- specs and forms ----

core::KernelSpec MatmulSpec(DType dtype) {
  core::KernelSpec spec = SoftmaxSpec(20, 60);
  spec.name = "matmul";
  spec.args[0].kind = ::warpwright::Buffer(dtype, {"N", "M"}, Role::kOut);
  spec.args[1].kind = ::warpwright::Buffer(dtype, {"N", "C"}, Role::kIn);
  spec.args.insert(spec.args.begin() + 2, Arg("w", ::warpwright::Buffer(dtype, {"C", "M"}, Role::kIn)));
  spec.args.push_back(Arg("M", core::ScalarArgument{DType::kI32, {}}));
  spec.cases[0].scalars["M"] = int64_t{45};
  return spec;
}
core::KernelSpec AttentionSpec() {
  core::KernelSpec spec;
  spec.name = "attention";
  spec.file = "kernels/attention.cu";
  spec.entry = "launch";
  for (const char* name : {"q", "k", "v"})
    spec.args.push_back(Arg(name, ::warpwright::Buffer(DType::kF32, {"N", "D"}, Role::kIn)));
  spec.args.push_back(Arg("out", ::warpwright::Buffer(DType::kF32, {"N", "D"}, Role::kOut)));
  spec.args.push_back(Arg("N", core::ScalarArgument{DType::kI32, {}}));
  spec.args.push_back(Arg("D", core::ScalarArgument{DType::kI32, {}}));
  spec.cases = {MakeCase("small", {{"N", int64_t{48}}, {"D", int64_t{16}}})};
  return spec;
}
core::KernelSpec BatchNormSpec() {
  core::KernelSpec spec = SoftmaxSpec(60, 24);
  spec.name = "batch_norm";
  for (const char* name : {"mean", "var", "gamma", "beta"}) {
    core::BufferArgument buffer = ::warpwright::Buffer(DType::kF32, {"C"}, Role::kIn);
    if (std::string(name) == "var") buffer.init = {.kind = core::Init::Kind::kLognormal};
    spec.args.insert(spec.args.end() - 2, Arg(name, buffer));
  }
  return spec;
}

core::Computation FormOf(std::vector<core::TensorArgument> tensors, const std::vector<StageBuilder>& stages) {
  core::Computation form{.tensors = std::move(tensors)};
  for (const StageBuilder& stage : stages) form.stages.push_back(stage.stage);
  return Finished(std::move(form));
}
core::Computation SumForm() {
  StageBuilder out("out", {"N"});
  out.Output().Reduce(ReduceOp::kSum, {{1, "C"}}, out.Read("in", {V(0), V(1)}));
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N"})}, {out});
}
core::Computation SoftmaxForm() {
  core::Computation form = Softmax();
  form.tensors[1].name = "in";
  for (core::Stage& stage : form.stages)
    for (core::Node& node : stage.nodes)
      if (auto* read = std::get_if<core::TensorRead>(&node); read != nullptr && !read->stage) read->tensor = "in";
  return form;
}
core::Computation NormForm(bool centred, double epsilon) {
  StageBuilder mean("t0", {"N"}), scale("t1", {"N"}), out("out", {"N", "C"});
  const auto sum = mean.Reduce(ReduceOp::kSum, {{1, "C"}}, mean.Read("in", {V(0), V(1)}));
  mean.Divide({sum, mean.OfSize("C")});
  const auto value = [&](StageBuilder& stage) {
    const auto x = stage.Read("in", {V(0), V(1)});
    return centred ? stage.Subtract({x, stage.ReadStage("t0", {V(0)})}) : x;
  };
  const auto difference = value(scale);
  const auto squares = scale.Reduce(ReduceOp::kSum, {{1, "C"}}, scale.Product({difference, difference}));
  scale.Apply(Function::kRsqrt, {scale.Sum({scale.Divide({squares, scale.OfSize("C")}), scale.Number(epsilon)})});
  const auto factor = value(out.Output());
  out.Product({factor, out.ReadStage("t1", {V(0)})});
  std::vector<StageBuilder> stages = {mean, scale, out};
  if (!centred) stages.erase(stages.begin());
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N", "C"})}, stages);
}
core::Computation GeluForm() {
  StageBuilder out("out", {"N", "C"});
  const auto x = out.Output().Read("in", {V(0), V(1)});
  const auto erf = out.Apply(Function::kErf, {out.Product({x, out.Number(0.7071068)})});
  out.Product({out.Number(0.5), x, out.Sum({out.Number(1), erf})});
  return FormOf({Input("in", {"N", "C"}), Output("out", {"N", "C"})}, {out});
}
core::Computation MatmulForm(DType dtype) {
  StageBuilder out("out", {"N", "M"});
  out.Output(dtype).Reduce(ReduceOp::kSum, {{2, "C"}},
                           out.Product({out.Read("in", {V(0), V(2)}), out.Read("w", {V(2), V(1)})}));
  return FormOf({Input("in", {"N", "C"}, dtype), Input("w", {"C", "M"}, dtype), Output("out", {"N", "M"}, dtype)},
                {out});
}
core::Computation AttentionForm() {
  core::Computation form = Attention();
  for (core::Stage& stage : form.stages)
    for (core::Node& node : stage.nodes)
      if (std::holds_alternative<core::ScalarRead>(node)) node = core::Constant{0.25};
  form.scalars.clear();
  return form;
}
core::Computation BatchNormForm() {
  StageBuilder out("out", {"N", "C"});
  const auto centred = out.Output().Subtract({out.Read("in", {V(0), V(1)}), out.Read("mean", {V(1)})});
  const auto scale = out.Apply(Function::kRsqrt, {out.Sum({out.Read("var", {V(1)}), out.Number(1e-5)})});
  out.Sum({out.Product({centred, scale, out.Read("gamma", {V(1)})}), out.Read("beta", {V(1)})});
  return FormOf({Input("in", {"N", "C"}), Input("mean", {"C"}), Input("var", {"C"}), Input("gamma", {"C"}),
                 Input("beta", {"C"}), Output("out", {"N", "C"})},
                {out});
}

struct Family {
  core::KernelSpec spec;
  core::Computation form;
  FakeKernel original;
};
void Add(std::vector<KernelPair>& pairs, const Family& family, bool honest,
         const std::vector<std::pair<std::string, FakeKernel>>& candidates) {
  for (const auto& [name, candidate] : candidates)
    pairs.push_back({name, honest, family.spec, family.form, family.original, candidate});
}

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

}  // namespace

std::vector<KernelPair> KernelPairs() {
  std::vector<KernelPair> pairs;
  AddSums(pairs);
  AddNorms(pairs);
  AddProducts(pairs);
  return pairs;
}

Result<PairVerdict> JudgePair(const KernelPair& pair, Truth truth, uint64_t seed) {
  WW_ASSIGN(const auto folder, base::TemporaryDirectory::Create("pairs"));
  FakeEvaluator trusted, untrusted;
  trusted.Add("original", pair.original);
  untrusted.Add("candidate", pair.candidate);
  judge::JudgeOptions options;
  options.repository = folder.path();

  options.secret_seed = 1'000'000 + seed;
  // These kernels run whole where a device would run a sample of their blocks.
  options.max_long_bytes = 4u << 20;
  options.max_long_instructions = 4'000'000;  // 4 per byte
  if (truth == Truth::kForm)
    options.lift = [&]() -> Result<core::LiftOutcome> {
      return core::LiftOutcome(core::Lifted{.computation = pair.form, .shapes = 3, .verified = true});
    };
  judge::Judge judge(pair.spec, {"/tmp", "k.cu", "// original\n"}, "sim:h200", trusted, options);
  WW_ASSIGN(const judge::Baseline baseline, judge.Prepare());
  if (!core::Passed(baseline.original)) return PairVerdict{baseline.truth, baseline.original};
  WW_ASSIGN(core::Verdict verdict,
            judge.Evaluate({"/tmp", "k.cu", "// candidate\n"}, untrusted, judge::VerificationLevel::kFull));
  return PairVerdict{baseline.truth, std::move(verdict)};
}

}  // namespace warpwright::testing
