// What limits kernels that use tensor cores.
#include "tests/unit/sim_model/run_kernel.h"

namespace warpwright {
namespace {

constexpr const char* kProducts = R"(
extern "C" __global__ void products(float* out, int rounds) {
  float d[4][4] = {};
  unsigned a = threadIdx.x;
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < 4; ++i)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                   : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3]) : "r"(a));
  out[blockIdx.x * blockDim.x + threadIdx.x] = d[0][0] + d[1][0] + d[2][0] + d[3][0];
}
)";

// 16 warps on each multiprocessor, four independent products each: the pipe is busy all the time.
TEST(TensorTime, ThePipeLimits) {
  const core::Chip chip = *config::LoadChip("h200");
  const core::CompiledModule module = CompileForTest(kProducts, {"products"}, "sm_90");
  constexpr uint32_t kBlocks = 132, kThreads = 512, kRounds = 64;
  TestRun run;
  const uint32_t out = run.Buffer("out", std::vector<std::byte>(size_t{kBlocks} * kThreads * 4), true);
  run.Launch("products", {kBlocks, 1, 1}, {kThreads, 1, 1},
             {TestRun::Pointer(out), TestRun::Value(static_cast<int>(kRounds))});
  run.options.counters = true;
  run.options.sample_instructions = 1000;  // all blocks are alike
  const core::DeviceRun result = run.MustRun(*sim::MakeSimDevice(chip, 2), module);
  ASSERT_EQ(result.launches.size(), 1u);
  const core::TimeBreakdown& time = result.launches[0].time;
  const double fmas = 16.0 * kRounds * 4 * 16 * 8 * 16;  // of one multiprocessor
  EXPECT_NEAR(time.tensor_us, fmas / chip.tensor_fma_per_cycle / (chip.clock_ghz * 1e3), 1e-6);
  EXPECT_EQ(time.limiter, "tensor");
  EXPECT_GE(time.total_us, time.tensor_us + chip.launch_overhead_us);
  EXPECT_LE(time.total_us, 1.2 * time.tensor_us + chip.launch_overhead_us);
}

}  // namespace
}  // namespace warpwright
