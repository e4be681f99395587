// Honest rewrites of common kernels, in real f32 arithmetic, must pass for every seed, with a float64 shadow and
// without one: a false rejection costs a good kernel. Downgrades of the same kernels must not pass.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/file.h"
#include "judge/judge.h"
#include "tests/support/fake_evaluator.h"
#include "tests/unit/judge/specs.h"

namespace warpwright {
namespace {

// Runs f<float> or, for the shadow, f<double>.
template <typename F>
FakeKernel Kernel(F f) {
  return [f](FakeRun& run) {
    if (run.in_f64("in")) f(run, double{});
    else f(run, float{});
  };
}

struct Rows {
  size_t rows, columns;
};
// Without columns, nothing is done.
Rows RowsOf(const FakeRun& run) {
  const auto columns = static_cast<size_t>(run.Scalar("C"));
  return {columns == 0 ? 0 : static_cast<size_t>(run.Scalar("N")), columns};
}

template <typename T>
T In(const FakeRun& run, size_t i) {
  return static_cast<T>(run.Get("in", i));
}

const auto kSerialSum = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    T sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += In<T>(run, r * columns + i);
    run.Set("out", r, static_cast<double>(sum));
  }
};
template <size_t kLanes>
void TreeSum(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float lanes[kLanes] = {};
    for (size_t i = 0; i < columns; ++i) lanes[i % kLanes] += In<float>(run, r * columns + i);
    for (size_t s = kLanes / 2; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) lanes[l] += lanes[l + s];
    run.Set("out", r, static_cast<double>(lanes[0]));
  }
}

const auto kTwoPassNorm = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    T mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i) mean += In<T>(run, r * columns + i);
    mean /= static_cast<T>(columns);
    for (size_t i = 0; i < columns; ++i) {
      const T d = In<T>(run, r * columns + i) - mean;
      variance += d * d;
    }
    variance /= static_cast<T>(columns);
    const T scale = 1 / std::sqrt(variance + static_cast<T>(1e-5f));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>((In<T>(run, r * columns + i) - mean) * scale));
  }
};
// One pass in 32 lanes, merged as in Chan et al.
void WelfordNorm(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float mean[32] = {}, m2[32] = {}, count[32] = {};
    for (size_t i = 0; i < columns; ++i) {
      const size_t l = i % 32;
      count[l] += 1;
      const float d = In<float>(run, r * columns + i) - mean[l];
      mean[l] += d / count[l];
      m2[l] += d * (In<float>(run, r * columns + i) - mean[l]);
    }
    for (size_t s = 16; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) {
        const float n = count[l] + count[l + s];
        if (n == 0) continue;
        const float d = mean[l + s] - mean[l], share = count[l + s] / n;
        m2[l] += m2[l + s] + d * d * count[l] * share;
        mean[l] += d * share;
        count[l] = n;
      }
    const float scale = 1 / std::sqrt(m2[0] / static_cast<float>(columns) + 1e-5f);
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>((In<float>(run, r * columns + i) - mean[0]) * scale));
  }
}
// Two passes with partial sums and a reciprocal instead of divisions.
void LaneNorm(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  const float inverse = 1.0f / static_cast<float>(columns);
  for (size_t r = 0; r < rows; ++r) {
    float sums[32] = {}, squares[32] = {};
    for (size_t i = 0; i < columns; ++i) sums[i % 32] += In<float>(run, r * columns + i);
    for (size_t l = 1; l < 32; ++l) sums[0] += sums[l];
    const float mean = sums[0] * inverse;
    for (size_t i = 0; i < columns; ++i) {
      const float d = In<float>(run, r * columns + i) - mean;
      squares[i % 32] = std::fma(d, d, squares[i % 32]);
    }
    for (size_t l = 1; l < 32; ++l) squares[0] += squares[l];
    const float scale = 1 / std::sqrt(squares[0] * inverse + 1e-5f);
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>((In<float>(run, r * columns + i) - mean) * scale));
  }
}

const auto kSoftmax = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    T largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < columns; ++i) largest = std::fmax(largest, In<T>(run, r * columns + i));
    for (size_t i = 0; i < columns; ++i) sum += std::exp(In<T>(run, r * columns + i) - largest);
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>(std::exp(In<T>(run, r * columns + i) - largest) / sum));
  }
};
// softmax(4.4 x), of scores that lie between two kernels as `keep` has them.
template <typename T, typename Keep>
void ScaledSoftmax(FakeRun& run, const Keep& keep) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    std::vector<T> scores(columns);
    T largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < columns; ++i) {
      scores[i] = keep(T(4.4f) * In<T>(run, r * columns + i));
      largest = std::fmax(largest, scores[i]);
    }
    for (const T score : scores) sum += std::exp(score - largest);
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>(std::exp(scores[i] - largest) / sum));
  }
}
const auto kScaledSoftmax = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  ScaledSoftmax<T>(run, [](T score) { return score; });
};
// 2^x instead of e^x, lanes, a reciprocal.
void Exp2Softmax(FakeRun& run) {
  constexpr float kLog2E = 1.44269504f;
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float largest = -INFINITY, sums[32] = {};
    for (size_t i = 0; i < columns; ++i) largest = std::fmax(largest, In<float>(run, r * columns + i));
    for (size_t i = 0; i < columns; ++i)
      sums[i % 32] += std::exp2((In<float>(run, r * columns + i) - largest) * kLog2E);
    for (size_t s = 16; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) sums[l] += sums[l + s];
    const float inverse = 1 / sums[0];
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i,
              static_cast<double>(std::exp2((In<float>(run, r * columns + i) - largest) * kLog2E) * inverse));
  }
}

const auto kGelu = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  for (size_t i = 0; i < run.Size("out"); ++i) {
    const T x = In<T>(run, i);
    const T inner = static_cast<T>(0.7978845608f) * (x + static_cast<T>(0.044715f) * x * x * x);
    run.Set("out", i, static_cast<double>(static_cast<T>(0.5f) * x * (1 + std::tanh(inner))));
  }
};
// The same with the logistic function: x / (1 + e^(-2 inner)).
void LogisticGelu(FakeRun& run) {
  for (size_t i = 0; i < run.Size("out"); ++i) {
    const float x = In<float>(run, i);
    const float inner = 0.7978845608f * std::fma(0.044715f * x * x, x, x);
    run.Set("out", i, static_cast<double>(0.5f * x * std::fma(1.0f, std::tanh(inner), 1.0f)));
  }
}

const auto kRmsNorm = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    T sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += In<T>(run, r * columns + i) * In<T>(run, r * columns + i);
    const T scale = 1 / std::sqrt(sum / static_cast<T>(columns) + static_cast<T>(1e-6f));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>(In<T>(run, r * columns + i) * scale));
  }
};
void LaneRmsNorm(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sums[128] = {};
    for (size_t i = 0; i < columns; ++i)
      sums[i % 128] = std::fma(In<float>(run, r * columns + i), In<float>(run, r * columns + i), sums[i % 128]);
    for (size_t s = 64; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) sums[l] += sums[l + s];
    const float scale = 1 / std::sqrt(std::fma(sums[0], 1 / static_cast<float>(columns), 1e-6f));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>(In<float>(run, r * columns + i) * scale));
  }
}

// Log-sum-exp minus one of the logits, per row: a cross entropy.
const auto kCrossEntropy = [](FakeRun& run, auto zero) {
  using T = decltype(zero);
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    T largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < columns; ++i) largest = std::fmax(largest, In<T>(run, r * columns + i));
    for (size_t i = 0; i < columns; ++i) sum += std::exp(In<T>(run, r * columns + i) - largest);
    run.Set("out", r, static_cast<double>(std::log(sum) + largest - In<T>(run, r * columns + r % columns)));
  }
};
void LaneCrossEntropy(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float largest = -INFINITY, sums[32] = {};
    for (size_t i = 0; i < columns; ++i) largest = std::fmax(largest, In<float>(run, r * columns + i));
    for (size_t i = 0; i < columns; ++i) sums[i % 32] += std::exp(In<float>(run, r * columns + i) - largest);
    for (size_t s = 16; s > 0; s /= 2)
      for (size_t l = 0; l < s; ++l) sums[l] += sums[l + s];
    run.Set("out", r, static_cast<double>(largest - In<float>(run, r * columns + r % columns) + std::log(sums[0])));
  }
}

// c[N, C] = in[N, C] * w[C, C], by summation order.
core::KernelSpec MatmulSpec(core::DType dtype) {
  core::KernelSpec spec = SoftmaxSpec(20, 60);
  spec.name = "matmul";
  spec.args[0].kind = Buffer(dtype, {"N", "M"}, core::Role::kOut);
  spec.args[1].kind = Buffer(dtype, {"N", "C"}, core::Role::kIn);
  spec.args.insert(spec.args.begin() + 2, Arg("w", Buffer(dtype, {"C", "M"}, core::Role::kIn)));
  spec.args.push_back(Arg("M", core::ScalarArgument{core::DType::kI32, {}}));
  spec.cases[0].scalars["M"] = int64_t{45};
  return spec;
}
template <size_t kChains>
struct Matmul {
  template <typename T>
  void operator()(FakeRun& run, T) const {
    const auto [rows, inner] = RowsOf(run);
    const auto columns = static_cast<size_t>(run.Scalar("M"));
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < columns; ++c) {
        T sums[kChains] = {};
        for (size_t k = 0; k < inner; ++k) {
          const T a = In<T>(run, r * inner + k), b = static_cast<T>(run.Get("w", k * columns + c));
          sums[k % kChains] = kChains == 1 ? sums[0] + a * b : std::fma(a, b, sums[k % kChains]);
        }
        for (size_t i = 1; i < kChains; ++i) sums[0] += sums[i];
        run.Set("out", r * columns + c, static_cast<double>(sums[0]));
      }
  }
};

core::KernelSpec WithDType(core::KernelSpec spec, core::DType dtype) {
  for (core::Argument& argument : spec.args)
    if (auto* buffer = std::get_if<core::BufferArgument>(&argument.kind)) buffer->dtype = dtype;
  return spec;
}

struct Pair {
  const char* name;
  core::KernelSpec spec;
  FakeKernel original, candidate;
};
std::vector<Pair> Pairs() {
  return {
      {"sum", RowSumSpec(core::DType::kF32, 40, 700), Kernel(kSerialSum), TreeSum<32>},
      {"sum of one long row", RowSumSpec(core::DType::kF32, 1, 20'000), Kernel(kSerialSum), TreeSum<256>},
      {"layer norm by Welford", SoftmaxSpec(24, 320), Kernel(kTwoPassNorm), WelfordNorm},
      {"layer norm by lanes", SoftmaxSpec(24, 320), Kernel(kTwoPassNorm), LaneNorm},
      {"softmax", SoftmaxSpec(24, 500), Kernel(kSoftmax), Exp2Softmax},
      {"softmax f16", WithDType(SoftmaxSpec(24, 500), core::DType::kF16), Kernel(kSoftmax), Exp2Softmax},
      {"softmax bf16", WithDType(SoftmaxSpec(24, 500), core::DType::kBF16), Kernel(kSoftmax), Exp2Softmax},
      {"gelu", ElementwiseSpec(core::DType::kF32, 5000), Kernel(kGelu), LogisticGelu},
      {"gelu f16", ElementwiseSpec(core::DType::kF16, 5000), Kernel(kGelu), LogisticGelu},
      {"RMS norm", SoftmaxSpec(24, 320), Kernel(kRmsNorm), LaneRmsNorm},
      {"cross entropy", RowSumSpec(core::DType::kF32, 64, 500), Kernel(kCrossEntropy), LaneCrossEntropy},
      {"matmul", MatmulSpec(core::DType::kF32), Kernel(Matmul<1>()), Kernel(Matmul<4>())},
      {"matmul f16", MatmulSpec(core::DType::kF16), Kernel(Matmul<1>()), Kernel(Matmul<4>())},
      {"matmul bf16", MatmulSpec(core::DType::kBF16), Kernel(Matmul<4>()), Kernel(Matmul<1>())},
  };
}

class HonestKernels : public testing::TestWithParam<bool> {};

TEST_P(HonestKernels, PassForEverySeed) {
  const bool with_shadow = GetParam();
  const std::string original_text = with_shadow ? "// original\n" : "// original\nvoid f() { asm(\"\"); }\n";
  auto folder = *base::TemporaryDirectory::Create("honest");
  for (const Pair& pair : Pairs()) {
    FakeEvaluator trusted, untrusted;
    trusted.Add("original", pair.original);
    untrusted.Add("candidate", pair.candidate);
    int rejected = 0, judged = 0;
    std::string example;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      judge::JudgeOptions options;
      options.repository = folder.path();
      options.seed = seed;
      options.secret_seed = 1000 + seed;
      options.max_long_bytes = 1 << 20;
      judge::Judge judge(pair.spec, {"/tmp", "k.cu", original_text}, "sim:h200", trusted, options);
      const auto baseline = judge.Prepare();
      ASSERT_TRUE(baseline) << pair.name << ": " << baseline.error().Format();
      ASSERT_TRUE(core::Passed(baseline->original)) << pair.name << ": " << core::VerdictMessage(baseline->original);
      EXPECT_EQ(baseline->truth == "float64 shadow", with_shadow) << pair.name << ": " << baseline->truth;
      const auto verdict =
          judge.Evaluate({"/tmp", "k.cu", "// candidate\n"}, untrusted, judge::VerificationLevel::kFull);
      ASSERT_TRUE(verdict) << pair.name << ": " << verdict.error().Format();
      ++judged;
      if (!core::Passed(*verdict)) {
        ++rejected;
        example = core::VerdictMessage(*verdict);
      }
    }
    EXPECT_EQ(rejected, 0) << pair.name << ", of " << judged << ": " << example;
  }
}
// Downgrades that stay within a percent: each must be rejected, at any stage.
template <size_t kBits>
float Narrow(float x) {  // to kBits of mantissa: 10 is tf32's and f16's
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  const float m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, kBits + 1)), exponent - static_cast<int>(kBits) - 1);
}
// As if the output's memory held them: rounded to 16 bits where the original has f32.
void SoftmaxOfNarrowScores(FakeRun& run) {
  ScaledSoftmax<float>(run, [](float score) { return Narrow<7>(score); });
}
void ShortSum(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (size_t i = 0; i < columns - columns / 50; ++i) sum += In<float>(run, r * columns + i);
    run.Set("out", r, static_cast<double>(sum));
  }
}
void SampledSum(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (size_t i = 0; i < columns / 2; ++i) sum += In<float>(run, r * columns + i);
    run.Set("out", r, static_cast<double>(2 * sum));
  }
}
void NarrowSum(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += Narrow<10>(In<float>(run, r * columns + i));
    run.Set("out", r, static_cast<double>(sum));
  }
}
void NarrowMatmul(FakeRun& run) {
  const auto [rows, inner] = RowsOf(run);
  const auto columns = static_cast<size_t>(run.Scalar("M"));
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (size_t k = 0; k < inner; ++k)
        sum +=
            Narrow<10>(In<float>(run, r * inner + k)) * Narrow<10>(static_cast<float>(run.Get("w", k * columns + c)));
      run.Set("out", r * columns + c, static_cast<double>(sum));
    }
}
// f32 products, the running sum in f16.
void HalfAccumulatingMatmul(FakeRun& run) {
  const auto [rows, inner] = RowsOf(run);
  const auto columns = static_cast<size_t>(run.Scalar("M"));
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (size_t k = 0; k < inner; ++k)
        sum = core::HalfToFloat(
            core::FloatToHalf(sum + In<float>(run, r * inner + k) * static_cast<float>(run.Get("w", k * columns + c))));
      run.Set("out", r * columns + c, static_cast<double>(sum));
    }
}
void SigmoidGelu(FakeRun& run) {  // x sigmoid(1.702 x): a common approximation, within 2 %
  for (size_t i = 0; i < run.Size("out"); ++i) {
    const float x = In<float>(run, i);
    run.Set("out", i, static_cast<double>(x / (1 + std::exp(-1.702f * x))));
  }
}
void OnePassNorm(FakeRun& run) {  // E[x^2] - E[x]^2 cancels if the mean is large
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sum = 0, squares = 0;
    for (size_t i = 0; i < columns; ++i) {
      sum += In<float>(run, r * columns + i);
      squares += In<float>(run, r * columns + i) * In<float>(run, r * columns + i);
    }
    const float mean = sum / static_cast<float>(columns);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(columns) - mean * mean + 1e-5f);
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>((In<float>(run, r * columns + i) - mean) * scale));
  }
}
void NoEpsilonNorm(FakeRun& run) {
  const auto [rows, columns] = RowsOf(run);
  for (size_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += In<float>(run, r * columns + i) * In<float>(run, r * columns + i);
    const float scale = 1 / std::sqrt(sum / static_cast<float>(columns));
    for (size_t i = 0; i < columns; ++i)
      run.Set("out", r * columns + i, static_cast<double>(In<float>(run, r * columns + i) * scale));
  }
}

TEST_P(HonestKernels, AndDowngradesDoNot) {
  const std::string original_text = GetParam() ? "// original\n" : "// original\nvoid f() { asm(\"\"); }\n";
  auto folder = *base::TemporaryDirectory::Create("downgrade");
  const Pair pairs[] = {
      {"sum of 98 %", RowSumSpec(core::DType::kF32, 40, 700), Kernel(kSerialSum), ShortSum},
      {"sampled sum", RowSumSpec(core::DType::kF32, 40, 700), Kernel(kSerialSum), SampledSum},
      {"sum of f16 values", RowSumSpec(core::DType::kF32, 40, 700), Kernel(kSerialSum), NarrowSum},
      {"tf32 matmul", MatmulSpec(core::DType::kF32), Kernel(Matmul<1>()), NarrowMatmul},
      {"f16 accumulation", MatmulSpec(core::DType::kF16), Kernel(Matmul<1>()), HalfAccumulatingMatmul},
      {"sigmoid gelu", ElementwiseSpec(core::DType::kF32, 5000), Kernel(kGelu), SigmoidGelu},
      {"sigmoid gelu f16", ElementwiseSpec(core::DType::kF16, 5000), Kernel(kGelu), SigmoidGelu},
      {"one-pass norm", SoftmaxSpec(24, 320), Kernel(kTwoPassNorm), OnePassNorm},
      {"softmax of bf16 scores", WithDType(SoftmaxSpec(24, 500), core::DType::kBF16), Kernel(kScaledSoftmax),
       SoftmaxOfNarrowScores},
      {"norm without epsilon", SoftmaxSpec(24, 320), Kernel(kRmsNorm), NoEpsilonNorm},
  };
  for (const Pair& pair : pairs) {
    FakeEvaluator trusted, untrusted;
    trusted.Add("original", pair.original);
    untrusted.Add("candidate", pair.candidate);
    judge::JudgeOptions options;
    options.repository = folder.path();
    options.secret_seed = 99;
    options.max_long_bytes = 1 << 20;
    judge::Judge judge(pair.spec, {"/tmp", "k.cu", original_text}, "sim:h200", trusted, options);
    const auto verdict = judge.Evaluate({"/tmp", "k.cu", "// candidate\n"}, untrusted, judge::VerificationLevel::kFull);
    ASSERT_TRUE(verdict) << pair.name << ": " << verdict.error().Format();
    EXPECT_TRUE(std::holds_alternative<core::WrongResult>(*verdict))
        << pair.name << ": " << core::VerdictMessage(*verdict);
  }
}
INSTANTIATE_TEST_SUITE_P(Judge, HonestKernels, testing::Bool(),
                         [](const auto& info) { return info.param ? "WithShadow" : "WithoutShadow"; });

}  // namespace
}  // namespace warpwright
