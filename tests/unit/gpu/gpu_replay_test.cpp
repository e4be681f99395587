// What a plan copies, on a fake libcuda (fake_cuda.cpp): its kernels do nothing, its copies do.
#include <gtest/gtest.h>

#include "compile/compiler.h"
#include "gpu/cuda_device.h"
#include "gpu/driver.h"

namespace warpwright {
namespace {

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

class GpuReplay : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(gpu::LoadCudaDriver()) << "the test is not linked to its libcuda";
    auto compiler = compile::Compiler::Create({});
    ASSERT_TRUE(compiler) << compiler.error().Format();
    auto compiled =
        compiler->Compile({"kernel.cu",
                           "__constant__ char table[32]; __global__ void k(char* out) { *out = table[*out]; }",
                           {},
                           {"k"},
                           "sm_90"});
    ASSERT_TRUE(compiled) << compiled.error().Format();
    module_ = std::get<core::CompiledModule>(*compiled);
    auto device = gpu::MakeCudaDevice("cuda", *compiler, [](bool) {});
    ASSERT_TRUE(device) << device.error().Format();
    device_ = std::move(*device);
    plan_.buffers = {{core::PlanBuffer::Kind::kArgument, "out", 8}, {core::PlanBuffer::Kind::kArgument, "in", 8}};
    buffers_ = {{"out", std::vector<std::byte>(8), true}, {"in", Bytes({1, 2, 3, 4, 5, 6, 7, 8}), false, true}};
  }
  static core::KernelLaunch Launch() {
    core::KernelLaunch launch;
    launch.kernel = "k";
    launch.parameters = {{std::vector<std::byte>(8), {{0, {0, 0}}}}};
    return launch;
  }
  Result<core::DeviceOutcome> Run() {
    core::ExecuteOptions options;
    options.keep_outputs = true;
    return device_->Run({&module_, &plan_, &buffers_, options});
  }
  core::DeviceRun MustRun() {
    auto outcome = Run();
    EXPECT_TRUE(outcome) << outcome.error().Format();
    if (!outcome || !std::holds_alternative<core::DeviceRun>(*outcome)) return {};
    return std::get<core::DeviceRun>(std::move(*outcome));
  }

  core::CompiledModule module_;
  std::unique_ptr<core::Device> device_;
  core::LaunchPlan plan_;
  std::vector<core::BufferContent> buffers_;
};

TEST_F(GpuReplay, CopiesBetweenBuffersAndVariables) {
  plan_.ops = {core::SymbolCopyOp{"table", 4, {1, 2}, 6, 0, true}, core::SymbolCopyOp{"dropped", 0, {1, 0}, 8, 0, true},
               Launch(), core::SymbolCopyOp{"table", 2, {0, 0}, 8, 0, false}};
  const core::DeviceRun run = MustRun();
  ASSERT_EQ(run.buffers.size(), 2u);
  EXPECT_EQ(run.buffers[0], Bytes({0, 0, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(run.changed_globals.empty());
}

TEST_F(GpuReplay, CopiesStayInsideVariablesThatThereAre) {
  plan_.ops = {core::SymbolCopyOp{"table", 28, {1, 0}, 8, 0, true}};
  const auto outside = Run();
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("leaves the variable 'table'"), std::string::npos);
  plan_.ops = {core::SymbolCopyOp{"dropped", 0, {0, 0}, 8, 0, false}};
  const auto dropped = Run();
  ASSERT_TRUE(dropped) << dropped.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::Fault>(*dropped));
  EXPECT_NE(std::get<core::Fault>(*dropped).message.find("'dropped'"), std::string::npos);
}

// Where nothing was copied yet stands what was loaded, also in later samples of a timing.
TEST_F(GpuReplay, ConstantMemoryIsAsLoadedInEverySample) {
  plan_.ops = {core::SymbolCopyOp{"table", 0, {0, 0}, 8, 0, false}, Launch(),
               core::SymbolCopyOp{"table", 0, {1, 0}, 8, 0, true}};
  const core::DeviceRun run = MustRun();
  EXPECT_EQ(run.buffers.at(0), std::vector<std::byte>(8));
  EXPECT_EQ(run.changed_globals, std::vector<std::string>{"table"}) << "the next call reads what this one left";

  const std::vector<core::TimedBuffer> roles(2);
  core::DeviceTimingRequest request;
  request.original = request.candidate = {&module_, &plan_};
  request.buffers = &buffers_;
  request.roles = &roles;
  request.options.blocks = 1;
  request.options.pairs_per_block = request.options.kept_pairs = 2;
  request.options.launches_per_sample = 1;
  const auto timed = device_->Time(request);
  ASSERT_TRUE(timed) << timed.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::Timed>(*timed));
  const core::Timed& timing = std::get<core::Timed>(*timed);
  ASSERT_EQ(timing.kept.size(), 2u);
  for (const core::SampledPair& pair : timing.kept) EXPECT_EQ(pair.candidate.at(0), std::vector<std::byte>(8));
}

}  // namespace
}  // namespace warpwright
