// What a trial without a truth is compared with: the table accepts, only the truth refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/computation_builder.h"
#include "tests/support/computation_samples.h"
#include "tests/unit/judge/judge_bench.h"

namespace warpwright {
namespace {

using namespace testing;  // NOLINT: builders of forms

// out = in * exp(-80 / C * sum in^2), by rows: the exponential turns a relative error of the long sum into one that is
// eighty times as large, of which the table knows nothing.
template <size_t kLanes, int kLost = 0>
void Damped(FakeRun& run) {
  const auto compute = [&](auto zero) {
    using T = decltype(zero);
    const auto rows = static_cast<size_t>(run.Scalar("N")), columns = static_cast<size_t>(run.Scalar("C"));
    const std::vector<double> in = run.Values("in");
    std::vector<double> out(in.size());
    for (size_t r = 0; r < rows; ++r) {
      T lanes[kLanes] = {}, sum = 0;
      for (size_t c = 0; c + kLost < columns; ++c) {
        const T x = static_cast<T>(in[r * columns + c]);
        lanes[c % kLanes] += x * x;
      }
      for (const T lane : lanes) sum += lane;
      const T factor = std::exp(static_cast<T>(-80) * sum / static_cast<T>(columns));
      for (size_t c = 0; c < columns; ++c)
        out[r * columns + c] = static_cast<double>(static_cast<T>(in[r * columns + c]) * factor);
    }
    run.SetValues("out", out);
  };
  if (run.in_f64("out")) compute(double{});
  else compute(float{});
}

core::Computation DampedForm() {
  StageBuilder sum("t0", {"N"}), out("out", {"N", "C"});
  const auto x = sum.Read("in", {V(0), V(1)});
  sum.Reduce(core::ReduceOp::kSum, {{1, "C"}}, sum.Product({x, x}));
  const auto mean = out.Output().Divide({out.ReadStage("t0", {V(0)}), out.OfSize("C")});
  const auto factor = out.Apply(core::Function::kExp, {out.Product({out.Number(-80), mean})});
  out.Product({out.Read("in", {V(0), V(1)}), factor});
  return Finished({.tensors = {Input("in", {"N", "C"}), Output("out", {"N", "C"})}, .stages = {sum.stage, out.stage}});
}

TEST(TrialsWithoutTruth, AreNotRefusedByTheTable) {
  const auto judge = [](const FakeKernel& candidate) {
    JudgeBench bench(SoftmaxSpec(24, 80), Damped<1>);
    bench.options.max_long_bytes = 4 << 20;
    bench.options.lift = []() -> Result<core::LiftOutcome> {
      return core::LiftOutcome(core::Lifted{.computation = DampedForm(), .shapes = 3, .verified = true});
    };
    return *bench.Try(candidate);
  };
  const core::Verdict honest = judge(Damped<32>);
  EXPECT_TRUE(core::Passed(honest)) << core::VerdictMessage(honest);
  EXPECT_FALSE(core::Passed(judge(Damped<32, 1>)));
}

// A worker that records launchers ahead finds what it recorded by exactly these values.
TEST(TrialsAhead, AreAnnouncedAsTheyWillBeCalled) {
  JudgeBench bench;
  bench.options.max_long_bytes = 4 << 20;
  ASSERT_TRUE(bench.Try(Twice));
  size_t announced = 0, called = 0;
  const auto& calls = bench.untrusted.calls;
  for (size_t i = 0; i < calls.size(); ++i)
    for (const core::UpcomingCall& upcoming : calls[i].upcoming) {
      ++announced;
      const bool found =
          std::any_of(calls.begin() + static_cast<ptrdiff_t>(i), calls.end(), [&](const FakeEvaluator::Call& call) {
            return call.scalars == upcoming.scalars &&
                   std::equal(call.buffers.begin(), call.buffers.end(), upcoming.buffers.begin(),
                              upcoming.buffers.end(), [](const auto& later, const auto& promised) {
                                return later.name == promised.name && later.Size() == promised.Size() &&
                                       later.pointer_offset == promised.pointer_offset && promised.bytes.empty();
                              });
          });
      called += found ? 1 : 0;
    }
  EXPECT_GT(announced, 20u);
  EXPECT_EQ(called, announced);
}

}  // namespace
}  // namespace warpwright
