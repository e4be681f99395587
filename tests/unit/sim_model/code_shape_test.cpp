#include "sim/schedule_model.h"

#include "compile/cubin.h"
#include "sim/cost_model.h"
#include "sim/program.h"
#include "tests/unit/sim_model/run_kernel.h"

namespace warpwright::sim {
namespace {

constexpr const char* kSource = R"(
// A loop with a constant step, one without, and one that is too large to be unrolled again.
extern "C" __global__ void loops(float* out, const float* a, int n, int step) {
  float sum = 0, other = 0;
  #pragma unroll 1
  for (int i = 0; i < n; i += 32) sum += a[i];
  for (int i = 0; i < n; i += step) other += a[i];
  out[threadIdx.x] = sum * other;
}
extern "C" __global__ void constant(float* out, const float* a, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += a[i];
  out[threadIdx.x] = sum;
}
extern "C" __global__ void guarded(float* out, const float* a, int rows, int columns) {
  __shared__ float tile[4][256];
  float sum = 0;
  #pragma unroll 1
  for (int k = 0; k < columns; k += 4) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = blockIdx.x * 256 + threadIdx.x, column = k + j;
      tile[j][threadIdx.x] = row < rows && column < columns ? a[row * columns + column] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < 4; ++j) sum += tile[j][255 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
)";

class CodeShapes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    module_ = new core::CompiledModule(CompileForTest(kSource, {"loops", "constant", "guarded"}, "sm_90"));
    auto program = DecodePtx(module_->ptx);
    ASSERT_TRUE(program);
    program_ = new Program(std::move(*program));
    auto cubin = compile::ReadCubin(module_->cubin);
    ASSERT_TRUE(cubin);
    machine_ = new auto(std::move(*cubin));
  }
  static const KernelCode& Kernel(const std::string& symbol) {
    for (const KernelCode& kernel : program_->code().kernels)
      if (kernel.info.symbol == symbol) return kernel;
    ADD_FAILURE() << symbol;
    return program_->code().kernels.front();
  }
  // The path of the longest region, executed once, if a global load takes 1000 cycles.
  static double LongestPath(const KernelCode& kernel, const ScheduleModel& shape) {
    const core::Chip chip = *config::LoadChip("h200");
    const auto work = BlockWork(kernel, shape, chip, 8, [](uint32_t) {
      LineCost cost;
      cost.load_cycles = 1000;
      return cost;
    });
    double longest = 0;
    for (const Work& w : work) longest = std::max(longest, w.path_cycles);
    return longest;
  }
  static core::CompiledModule* module_;
  static Program* program_;
  static std::map<std::string, compile::CubinKernel>* machine_;
};
core::CompiledModule* CodeShapes::module_ = nullptr;
Program* CodeShapes::program_ = nullptr;
std::map<std::string, compile::CubinKernel>* CodeShapes::machine_ = nullptr;

int Unrolled(const ScheduleModel& shape) {
  return static_cast<int>(std::count_if(shape.unroll.begin(), shape.unroll.end(), [](int u) { return u > 1; }));
}

TEST_F(CodeShapes, GuardedLoadsAreUnderWayTogether) {
  const KernelCode& kernel = Kernel("guarded");
  const ScheduleModel shape = ModelSchedule(kernel, {});
  ScheduleModel apart = shape;
  for (uint32_t b = 0; b < apart.region.size(); ++b) apart.region[b] = b;
  double sum = 0;  // of all blocks, each separately
  for (const Work& work :
       BlockWork(kernel, apart, *config::LoadChip("h200"), 8, [](uint32_t) { return LineCost{.load_cycles = 1000}; }))
    sum += work.path_cycles;
  EXPECT_GT(sum, 4000);                         // four loads, one after the other
  EXPECT_LT(LongestPath(kernel, shape), 1500);  // at the same time
}

TEST_F(CodeShapes, LoopsThatCountByAConstantAreUnrolled) {
  const ScheduleModel shape = ModelSchedule(Kernel("constant"), {});
  EXPECT_GE(Unrolled(shape), 1);
  EXPECT_LT(LongestPath(Kernel("constant"), shape), 1000);  // an iteration has its share of four that wait together
}

TEST_F(CodeShapes, MachineCodeSaysWhatBecameOfALoop) {
  const auto& loops = machine_->at("constant").loops;
  ASSERT_FALSE(loops.empty());
  int most = 0;
  for (const compile::MachineLoop& loop : loops) {
    EXPECT_GE(loop.waits, 1);
    EXPECT_LE(loop.waits, loop.global_loads);
    most = std::max(most, loop.global_loads);
  }
  EXPECT_EQ(most, 16);  // four by the front end, four of these by ptxas
  const ScheduleModel shape = ModelSchedule(Kernel("constant"), loops);
  bool matched = false;
  for (size_t b = 0; b < shape.machine.size(); ++b)
    matched |= shape.machine[b] && shape.machine[b]->global_loads == most && shape.unroll[b] == 4;
  EXPECT_TRUE(matched);
  std::vector<compile::MachineLoop> serial = loops;  // as if registers allowed one load at a time
  for (compile::MachineLoop& loop : serial) loop.waits = loop.global_loads;
  EXPECT_GT(LongestPath(Kernel("constant"), ModelSchedule(Kernel("constant"), serial)), 3000);
}

TEST_F(CodeShapes, PhasesAreLoopsAndWhatStandsBetween) {
  const KernelCode& kernel = Kernel("guarded");
  const ScheduleModel shape = ModelSchedule(kernel, {});
  EXPECT_EQ(shape.phase.front(), 0u);
  EXPECT_EQ(shape.phase.back(), 2u);  // before, the loop, after
  EXPECT_TRUE(std::is_sorted(shape.phase.begin(), shape.phase.end()));
  const ScheduleModel two = ModelSchedule(Kernel("loops"), {});
  EXPECT_GE(two.phase.back(), 3u);
}

}  // namespace
}  // namespace warpwright::sim
