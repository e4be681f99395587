// Infinite inputs: what an honest order of operations makes of them, and what nobody may make of them.
#include "judge/special_values.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

// out[i] = sum of w[t] in[i + t - 4], t < 9, with nothing beyond the ends; padded: with zeros there.
template <bool kPadded>
void Convolve(FakeRun& run) {
  const std::vector<double> in = run.Values("in"), w = run.Values("w");
  std::vector<double> out(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    double sum = 0;
    for (size_t t = 0; t < 9; ++t) {
      const size_t at = i + t;
      const bool inside = at >= 4 && at < in.size() + 4;
      if (!inside && !kPadded) continue;
      const double term = w[t] * (inside ? in[at - 4] : 0);
      sum = run.in_f64("out") ? sum + term : static_cast<double>(static_cast<float>(sum + term));
    }
    out[i] = sum;
  }
  run.SetValues("out", out);
}

core::KernelSpec ConvolutionSpec() {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 60);
  spec.args.insert(spec.args.end() - 1, Arg("w", Buffer(core::DType::kF32, {"9"}, core::Role::kIn)));
  return spec;
}

// exp(in) / (1 + exp(in)) of a mask: 0 at -inf; careless: NaN at +-inf where it divides infinities.
template <bool kCareless>
void Sigmoid(FakeRun& run) {
  std::vector<double> values = run.Values("in");
  for (double& x : values) {
    const double e = std::exp(kCareless ? -x : -std::fabs(x));
    x = kCareless ? (std::isinf(x) ? NAN : 1 / (1 + e)) : x >= 0 ? 1 / (1 + e) : e / (1 + e);
    if (!run.in_f64("out")) x = static_cast<double>(static_cast<float>(x));
  }
  run.SetValues("out", values);
}

template <bool kFolded>
void Shift(FakeRun& run) {  // (x - 1) * 2, or x * 2 - x / x * 2: NaN for infinities
  std::vector<double> values = run.Values("in");
  for (double& x : values) x = kFolded && std::isinf(x) ? NAN : (x - 1) * 2;
  run.SetValues("out", values);
}
void Launder(FakeRun& run) {
  std::vector<double> values = run.Values("in");
  for (double& x : values) x = std::isnan(x) ? 0 : (x - 1) * 2;
  run.SetValues("out", values);
}

// out = in + beta * out, which a product with beta = 0 does not look at.
template <bool kLooks>
void Accumulate(FakeRun& run) {
  const double beta = std::get<double>(run.request.scalars.at("beta"));
  std::vector<double> out = run.Values("out"), in = run.Values("in");
  for (size_t i = 0; i < in.size(); ++i) {
    const double old = kLooks || beta != 0 ? beta * out[i] : 0;
    out[i] = run.in_f64("out") ? in[i] + old : static_cast<double>(static_cast<float>(in[i] + old));
  }
  run.SetValues("out", out);
}

TEST(SpecialValues, MemoryThatNobodyHasWrittenIsNotLookedAt) {
  core::KernelSpec spec = ElementwiseSpec(core::DType::kF32, 1000);
  std::get<core::BufferArgument>(spec.args[0].kind).role = core::Role::kInOut;
  spec.args.push_back(Arg("beta", core::ScalarArgument{core::DType::kF32, {}}));
  spec.cases[0].scalars["beta"] = 0.5;
  for (const bool looks : {false, true}) {
    JudgeBench bench(spec, Accumulate<false>);
    bench.options.max_long_bytes = 1 << 14;
    const auto verdict = bench.Try(looks ? FakeKernel(Accumulate<true>) : FakeKernel(Accumulate<false>));
    ASSERT_TRUE(verdict) << verdict.error().Format();
    EXPECT_EQ(core::Passed(*verdict), !looks) << core::VerdictMessage(*verdict);
    const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
    EXPECT_EQ(core::VerdictMessage(*verdict).find("with beta=0") != std::string::npos, looks);
    EXPECT_EQ(wrong != nullptr, looks);
  }
}

TEST(SpecialValues, OnlyTheirOrderMayShow) {
  const struct {
    const char* name;
    core::KernelSpec spec;
    FakeKernel original, candidate;
    bool passes;
  } rows[] = {
      {"padding times an infinite weight", ConvolutionSpec(), Convolve<false>, Convolve<true>, true},
      {"an infinity that becomes NaN", ElementwiseSpec(core::DType::kF32, 1000), Shift<false>, Shift<true>, true},
      {"NaN that is laundered", ElementwiseSpec(core::DType::kF32, 1000), Shift<false>, Launder, false},
      {"a mask that has an effect", ElementwiseSpec(core::DType::kF32, 1000), Sigmoid<false>, Sigmoid<true>, false},
  };
  for (const auto& row : rows) {
    JudgeBench bench(row.spec, row.original);
    bench.options.max_long_bytes = 1 << 14;
    const auto verdict = bench.Try(row.candidate);
    ASSERT_TRUE(verdict) << row.name << ": " << verdict.error().Format();
    EXPECT_EQ(core::Passed(*verdict), row.passes) << row.name << ": " << core::VerdictMessage(*verdict);
    if (row.passes) {
      const auto& notes = std::get<core::Measured>(*verdict).notes;
      EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
        return note.starts_with("special-values: ");
      })) << row.name;
      continue;
    }
    const auto* wrong = std::get_if<core::WrongResult>(&*verdict);
    ASSERT_NE(wrong, nullptr) << row.name;
    EXPECT_EQ(wrong->check, core::Check::kSpecialValues) << row.name;
    EXPECT_NE(wrong->message.find("infinities or NaN are in in"), std::string::npos) << wrong->message;
  }
}

}  // namespace
}  // namespace warpwright
