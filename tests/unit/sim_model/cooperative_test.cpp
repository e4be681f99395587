// Launches whose blocks meet at a barrier of the grid.
#include "tests/unit/sim_model/run_kernel.h"

namespace warpwright {
namespace {

constexpr const char* kRotate = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void rotate(float* out, float* parts, const float* in, int rounds) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  parts[i] = in[i];
  for (int r = 0; r < rounds; ++r) {
    grid.sync();
    float next = parts[(i + 1) % n];
    grid.sync();
    parts[i] = next;
  }
  out[i] = parts[i];
}
)";

class CooperativeTest : public testing::Test {
 protected:
  static const core::CompiledModule& Module() {
    static const core::CompiledModule module = CompileForTest(kRotate, {"rotate"}, "sm_90");
    return module;
  }
  // `given`: of the blocks' inputs, so many are there.
  TestRun Rotate(uint32_t blocks, bool cooperative, uint32_t given = UINT32_MAX) {
    const size_t n = size_t{blocks} * 64;
    std::vector<float> in(std::min(given, blocks) * size_t{64});
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    TestRun run;
    const uint32_t out = run.Buffer("out", std::vector<std::byte>(n * 4), true);
    const uint32_t parts = run.Workspace(n * 4), from = run.Buffer("in", ToBytes(in));
    run.Launch("rotate", {blocks, 1, 1}, {64, 1, 1},
               {TestRun::Pointer(out), TestRun::Pointer(parts), TestRun::Pointer(from), TestRun::Value(5)})
        .cooperative = cooperative;
    run.options.keep_outputs = true;
    return run;
  }
  std::unique_ptr<core::Device> device_ = sim::MakeSimDevice(*config::LoadChip("h200"), 2);
};

TEST_F(CooperativeTest, BlocksMeet) {
  for (const uint32_t blocks : {1u, 2u, 20u}) {
    TestRun run = Rotate(blocks, true);
    run.options.counters = true;
    run.options.runs = 3;
    const core::DeviceRun result = run.MustRun(*device_, Module());
    const std::vector<float> out = FromBytes<float>(result.buffers[0]);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], static_cast<float>((i + 5) % out.size())) << blocks;
    EXPECT_EQ(result.differing_runs, 0u);
    EXPECT_EQ(result.launches[0].counters.blocks, blocks);
    EXPECT_EQ(result.launches[0].blocks_run, blocks);
    EXPECT_GT(result.time_us, 0);
  }
}

// Not once each of them has had a turn, which may be nearly all of its work.
TEST_F(CooperativeTest, TheLimitIsThatOfAllBlocksTogether) {
  TestRun run = Rotate(20, true, 15);
  EXPECT_EQ(run.MustFault(*device_, Module()).kind, core::Fault::Kind::kOutOfBounds);
  run.options.instruction_limit = 5 * 64 * 5;  // of five blocks at most
  EXPECT_EQ(run.MustFault(*device_, Module()).kind, core::Fault::Kind::kInstructionLimit);
}

TEST_F(CooperativeTest, WithoutACooperativeLaunchTheBarrierTraps) {
  TestRun run = Rotate(2, false);
  EXPECT_EQ(run.MustFault(*device_, Module()).kind, core::Fault::Kind::kTrap);
}

TEST_F(CooperativeTest, AllBlocksMustBeResident) {
  TestRun run = Rotate(132 * 32 + 1, true);
  const core::Fault fault = run.MustFault(*device_, Module());
  EXPECT_EQ(fault.kind, core::Fault::Kind::kResourceLimit);
  EXPECT_EQ(fault.message, "a cooperative grid of 4225 blocks; NVIDIA H200 holds 4224 of them at once");
}

}  // namespace
}  // namespace warpwright
