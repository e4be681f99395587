// What a worker tells `warpwright doctor` of a real GPU. The numbers that NVML and the driver both know must agree: the
// declarations of NVML are our own (gpu/nvml.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/describe.h"
#include "gpu/driver.h"

namespace warpwright::gpu {
namespace {

// The parts together, as the reader of the lines has them.
core::Machine Describe(const std::string& name, std::string& arch) {
  core::Machine machine;
  DescribeGpus(
      name,
      [&](const core::Machine& part) {
        if (part.nvml) machine.nvml = part.nvml;
        if (part.driver) machine.driver = part.driver;
        if (part.device) machine.device = part.device;
        if (part.cupti) machine.cupti = part.cupti;
        if (part.counters) machine.counters = part.counters;
      },
      [&](const std::string& of_device) { arch = of_device; });
  return machine;
}

TEST(DescribeGpu, DriverAndNvmlAgree) {
  if (const auto driver = LoadCudaDriver(); !driver) GTEST_SKIP() << driver.error().message;
  std::string arch;
  const core::Machine machine = Describe("cuda", arch);
  ASSERT_TRUE(machine.device.has_value());
  ASSERT_FALSE(machine.device->problem) << machine.device->problem.message;
  EXPECT_EQ(arch.rfind("sm_", 0), 0u) << arch;
  ASSERT_TRUE(machine.cupti.has_value());
  EXPECT_TRUE(machine.cupti->problem || machine.counters.has_value());
  if (machine.nvml->problem) GTEST_SKIP() << machine.nvml->problem.message;

  const auto& gpus = machine.nvml->gpus;
  const auto gpu = std::find_if(gpus.begin(), gpus.end(),
                                [&](const core::GpuState& state) { return state.pci == machine.device->pci; });
  ASSERT_NE(gpu, gpus.end()) << "NVML knows no GPU at " << machine.device->pci;
  const core::GpuFacts& facts = machine.device->facts;
  EXPECT_FALSE(machine.nvml->driver_release.empty());
  EXPECT_FALSE(gpu->compute_mode.empty());
  ASSERT_TRUE(gpu->max_sm_mhz && gpu->sm_mhz && gpu->max_memory_mhz && gpu->temperature_celsius && gpu->power_watts);
  const int memory_mhz = facts.memory_clock_khz / 1000;
  EXPECT_NEAR(*gpu->max_memory_mhz, memory_mhz, 2);
  EXPECT_LE(*gpu->sm_mhz, *gpu->max_sm_mhz);
  EXPECT_GT(*gpu->temperature_celsius, 0);
  EXPECT_LT(*gpu->temperature_celsius, 120);
  EXPECT_GT(*gpu->power_watts, 0);
  EXPECT_LT(*gpu->power_watts, 2000);
  if (gpu->mig.value_or(false)) return;  // the driver then tells of an instance
  EXPECT_EQ(gpu->name, facts.name);
  EXPECT_EQ(gpu->uuid, "GPU-" + facts.uuid);
  ASSERT_TRUE(gpu->memory_bytes.has_value());
  EXPECT_NEAR(static_cast<double>(*gpu->memory_bytes), static_cast<double>(facts.memory_bytes),
              0.05 * static_cast<double>(facts.memory_bytes));
}

TEST(DescribeGpu, AGpuThatIsNotThereIsAPartOfItsOwn) {
  if (const auto driver = LoadCudaDriver(); !driver) GTEST_SKIP() << driver.error().message;
  std::string arch = "unset";
  const core::Machine machine = Describe("cuda:99", arch);
  EXPECT_EQ(arch, "");
  ASSERT_TRUE(machine.device.has_value());
  EXPECT_NE(machine.device->problem.message.find("GPU 99 does not exist"), std::string::npos)
      << machine.device->problem.message;
  EXPECT_TRUE(machine.cupti.has_value());
  EXPECT_FALSE(machine.counters.has_value());
}

// Where there is no driver, the other parts are told all the same.
TEST(DescribeGpu, NoDriverIsSaid) {
  if (LoadCudaDriver()) GTEST_SKIP() << "there is a driver";
  std::string arch = "unset";
  const core::Machine machine = Describe("cuda", arch);
  EXPECT_EQ(arch, "");
  ASSERT_TRUE(machine.nvml && machine.driver && machine.cupti);
  EXPECT_TRUE(machine.driver->problem);
  EXPECT_FALSE(machine.driver->problem.remedy.empty());
  EXPECT_FALSE(machine.device || machine.counters);
}

}  // namespace
}  // namespace warpwright::gpu
