// Launches that are lifted one by one, and calls that stay although their arguments are known.
#include <gtest/gtest.h>

#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

Trace CutTraceOf(TraceKit& kit) {
  TraceOutcome outcome = kit.Outcome();
  EXPECT_TRUE(std::holds_alternative<Trace>(outcome));
  return std::get<Trace>(std::move(outcome));
}
double CutInput(size_t i) { return 0.5 * static_cast<double>(i) - 1; }

TEST(LiftCut, ALaunchReadsWhatTheOneBeforeLeft) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void square(const float* x, float* t) { t[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
__global__ void pairs(const float* t, float* out) { out[threadIdx.x] = t[threadIdx.x] + t[threadIdx.x ^ 1]; })",
                                    {"square", "pairs"});
  const uint32_t x = kit.Argument("x", DType::kF32, 8, CutInput), out = kit.Argument("out", DType::kF32, 8),
                 t = kit.Workspace(32);
  kit.Launch("square", {1}, {8}, Pointer{x}, Pointer{t});
  kit.Launch("pairs", {1}, {8}, Pointer{t}, Pointer{out});
  EXPECT_TRUE(CutTraceOf(kit).intermediates.empty());
  kit.request.cut_launches = true;
  const Trace trace = CutTraceOf(kit);
  ASSERT_EQ(trace.intermediates.size(), 1u);
  EXPECT_EQ(trace.intermediates[0].argument, -1);
  ASSERT_EQ(trace.intermediates[0].elements.size(), 8u);
  EXPECT_EQ(Describe(trace.graph, trace.intermediates[0].elements[3]), "mul.f32(b0[3], b0[3])");
  EXPECT_EQ(Describe(trace.graph, trace.buffers[out].elements[2]), "add.f32(b2[2], b2[3])");
}

TEST(LiftCut, StepsInPlaceAreVersionsOfTheArgument) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void step(float* x) { if (threadIdx.x < 3) x[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x + 1]; })",
                                    {"step"});
  const uint32_t x = kit.Argument("x", DType::kF32, 8, CutInput);
  for (int k = 0; k < 3; ++k) kit.Launch("step", {1}, {8}, Pointer{x});
  kit.request.cut_launches = true;
  const Trace trace = CutTraceOf(kit);
  ASSERT_EQ(trace.intermediates.size(), 2u);
  EXPECT_EQ(trace.intermediates[1].argument, 0);
  EXPECT_EQ(Describe(trace.graph, trace.intermediates[1].elements[2]), "mul.f32(b1[2], b0[3])");
  EXPECT_EQ(trace.intermediates[1].elements[3], kConcrete);  // nothing wrote it
  EXPECT_EQ(Describe(trace.graph, trace.buffers[x].elements[1]), "mul.f32(b2[1], b2[2])");
}

TEST(LiftCut, WavesOfThePositionStayCalls) {
  TraceKit kit = TraceKit::FromCuda(R"(
__global__ void wave(const float* x, float* out) { out[threadIdx.x] = x[threadIdx.x] * sinf(0.5f * threadIdx.x); })",
                                    {"wave"});
  const uint32_t x = kit.Argument("x", DType::kF32, 8, CutInput), out = kit.Argument("out", DType::kF32, 8);
  kit.Launch("wave", {1}, {8}, Pointer{x}, Pointer{out});
  const std::string text = Describe(kit.Run(4).graph, kit.Run(4).buffers[out].elements[5]);
  EXPECT_NE(text.find("sin"), std::string::npos) << text;
  EXPECT_NE(text.find("2.5"), std::string::npos) << text;
}

}  // namespace
}  // namespace warpwright::lift
