// Launches that are too large to be executed whole, and whose size no scalar changes.
#include <gtest/gtest.h>

#include <cmath>

#include "lift/block_sample.h"
#include "lift/lift.h"
#include "tests/unit/lift/trace_kit.h"

namespace warpwright::lift {
namespace {

using core::DType;
using Pointer = TraceKit::Pointer;

TEST(BlockSample, BordersNeighboursAndTheMiddle) {
  EXPECT_EQ(GridSample({1}, 5), BlockList({0}));
  EXPECT_EQ(GridSample({3}, 8), BlockList({0, 1, 2}));
  EXPECT_EQ(GridSample({100}, 3), BlockList({0, 1, 99}));
  EXPECT_EQ(GridSample({100}, 6), BlockList({0, 1, 50, 51, 98, 99}));
  EXPECT_EQ(GridSample({4, 5}, 4), BlockList({0, 3, 16, 19}));
  EXPECT_EQ(GridSample({4, 5}, 1), BlockList({0, 3, 16, 19})) << "corners at least";
  EXPECT_EQ(GridSample({1, 1, 6}, 2), BlockList({0, 5}));
  const BlockList random = RandomSample({1000, 2}, 40, 1);
  EXPECT_TRUE(std::is_sorted(random.begin(), random.end()));
  EXPECT_GT(random.size(), 35u);
  EXPECT_LT(random.back(), 2000u);
  EXPECT_NE(random, RandomSample({1000, 2}, 40, 2));
}

// `y = kernel(x)` of 300 rows of 130 each, one block for each row.
core::LiftOutcome LiftRows(const std::string& body, bool row_result, uint32_t node_limit) {
  TraceKit kit = TraceKit::FromCuda(
      "__global__ void k(const float* x, float* y) { int r = blockIdx.x, t = threadIdx.x; " + body + " }", {"k"});
  core::LiftRequest request;
  request.node_limit = node_limit;
  const size_t outputs = row_result ? 300 : 300 * 130;
  const uint32_t x = kit.Argument("x", DType::kF32, 300 * 130,
                                  [](size_t i) { return std::sin(3.0 * static_cast<double>(i)); }),
                 y = kit.Argument("y", DType::kF32, outputs);
  kit.Launch("k", {300}, {64}, Pointer{x}, Pointer{y});
  core::BufferArgument in, out;
  in.shape = {core::Expression::Constant(300), core::Expression::Constant(130)};
  out.shape = row_result ? std::vector<core::Expression>{core::Expression::Constant(300)} : in.shape;
  out.role = core::Role::kOut;
  request.spec.args = {{"x", in}, {"y", out}};
  request.shapes.assign(2, {.scalars = {}, .buffers = kit.buffers});
  const PreparedShape prepared{std::make_shared<core::CompiledModule>(kit.module), kit.plan};
  return *LiftEntry(request, [&](const core::LiftShape&) { return Result<PrepareOutcome>(prepared); });
}

constexpr const char* kRowSum = R"(
  __shared__ float s[64];
  float a = 0;
  for (int i = t; i < 130; i += 64) a += x[r * 130 + i];
  s[t] = a;
  __syncthreads();
  for (int o = 32; o; o >>= 1) {
    if (t < o) s[t] += s[t + o];
    __syncthreads();
  }
  if (t == 0) y[r] = s[0];)";

TEST(LiftBlocks, SomeStandForAll) {
  const auto whole = LiftRows(kRowSum, true, 1'000'000), sampled = LiftRows(kRowSum, true, 20'000);
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(whole));
  ASSERT_TRUE(std::holds_alternative<core::Lifted>(sampled)) << std::get<core::NotLifted>(sampled).message;
  const core::Lifted &a = std::get<core::Lifted>(whole), &b = std::get<core::Lifted>(sampled);
  EXPECT_TRUE(b.verified);
  EXPECT_EQ(a.computation.stages, b.computation.stages);
  EXPECT_TRUE(a.computation.assumptions.empty());
  ASSERT_EQ(b.computation.assumptions.size(), 1u);
  EXPECT_TRUE(b.computation.assumptions[0].starts_with("all 300 blocks compute what "));
}

// What no sampled block does, the others that it is verified at show, or nothing is claimed of the whole.
TEST(LiftBlocks, NothingIsClaimedOfBlocksThatDiffer) {
  for (const char* body :
       {"for (int i = t; i < 130; i += 64) y[r * 130 + i] = x[r * 130 + i] * (r % 4 == 2 ? 2.0f : x[i]) + x[i + 1];",
        "for (int i = t; i < 130; i += 64) if (r < 150) y[r * 130 + i] = x[r * 130 + i] * x[i] + x[i + 1];"}) {
    SCOPED_TRACE(body);
    EXPECT_FALSE(std::holds_alternative<core::Lifted>(LiftRows(body, false, 20'000)));
  }
}

}  // namespace
}  // namespace warpwright::lift
