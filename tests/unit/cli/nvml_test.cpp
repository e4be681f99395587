// Reading a GPU's state from an NVML that reports everything, reports little, or fails.
#include <gtest/gtest.h>

#include <cstring>

#include "gpu/nvml.h"

namespace warpwright::gpu {
namespace {

constexpr int kNotSupported = kNvmlNotSupported;
unsigned process_count = 0;  // the fakes are C functions

// The second GPU fell off the bus.
Nvml FullNvml() {
  Nvml nvml;
  nvml.ErrorString = [](int) { return "GPU is lost"; };
  nvml.DeviceGetCount = [](unsigned* count) { return *count = 2, 0; };
  nvml.DeviceGetHandleByIndex = [](unsigned index, NvmlHandle*) { return index == 0 ? 0 : 15; };
  nvml.SystemGetDriverVersion = [](char* text, unsigned size) { return std::strncpy(text, "580.159.04", size), 0; };
  nvml.SystemGetProcessName = [](unsigned pid, char* text, unsigned size) {
    return pid == 7 ? (std::strncpy(text, "python", size), 0) : 6;
  };
  nvml.DeviceGetName = [](NvmlHandle, char* text, unsigned size) { return std::strncpy(text, "NVIDIA H200", size), 0; };
  nvml.DeviceGetPciInfo = [](NvmlHandle, NvmlPci* pci) {
    pci->domain = 0;
    pci->bus = 0x19;
    pci->device = 0;
    return 0;
  };
  nvml.DeviceGetMemoryInfo = [](NvmlHandle, NvmlMemory* memory) { return *memory = {100, 60, 40}, 0; };
  nvml.DeviceGetEccMode = [](NvmlHandle, int* now, int* pending) { return *now = 1, *pending = 0, 0; };
  nvml.DeviceGetTotalEccErrors = [](NvmlHandle, int type, int counter, unsigned long long* count) {
    return *count = type == 1 ? (counter == 0 ? 2 : 5) : 1000, 0;  // the many corrected ones are not queried
  };
  nvml.DeviceGetMigMode = [](NvmlHandle, unsigned*, unsigned*) { return kNotSupported; };
  nvml.DeviceGetComputeMode = [](NvmlHandle, int* mode) { return *mode = 3, 0; };
  nvml.DeviceGetPowerUsage = [](NvmlHandle, unsigned* milliwatts) { return *milliwatts = 76500, 0; };
  nvml.DeviceGetClockInfo = [](NvmlHandle, int clock, unsigned* mhz) {
    return *mhz = clock == kNvmlSm ? 345 : 3201, 0;
  };
  nvml.DeviceGetSlowdown = [](NvmlHandle, unsigned long long* reasons) { return *reasons = 0x1 | 0x2 | 0x4 | 0x80, 0; };
  nvml.DeviceGetProcesses = [](NvmlHandle, unsigned* count, NvmlProcess* processes) {
    const unsigned room = *count;
    *count = process_count;
    if (room < process_count) return static_cast<int>(kNvmlInsufficientSize);
    for (unsigned i = 0; i < process_count; ++i) processes[i] = {7 + i, i == 0 ? 1024 : ~0ull, ~0u, ~0u};
    return 0;
  };
  return nvml;
}

TEST(Nvml, TellsWhatItKnowsAndLeavesOutTheRest) {
  process_count = 2;
  const core::NvmlPart part = ReadNvml(FullNvml());
  EXPECT_EQ(part.driver_release, "580.159.04");
  EXPECT_EQ(part.problem.message, "GPU 1 cannot be queried: GPU is lost (15)");
  ASSERT_EQ(part.gpus.size(), 1u);
  const core::GpuState& gpu = part.gpus.front();
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.uuid, "");
  EXPECT_EQ(gpu.pci, "00000000:19:00.0");
  EXPECT_EQ(gpu.free_bytes, 60);
  EXPECT_EQ(gpu.memory_bytes, 100);
  EXPECT_EQ(gpu.ecc, true);
  EXPECT_EQ(gpu.uncorrected_errors, 2);
  EXPECT_EQ(gpu.lifetime_uncorrected_errors, 5);
  EXPECT_EQ(gpu.mig, std::nullopt);
  EXPECT_EQ(gpu.persistence, std::nullopt);
  EXPECT_EQ(gpu.compute_mode, "exclusive process");
  EXPECT_EQ(gpu.power_watts, 76.5);
  EXPECT_EQ(gpu.power_limit_watts, std::nullopt);
  EXPECT_EQ(gpu.sm_mhz, 345);
  EXPECT_EQ(gpu.memory_mhz, 3201);
  EXPECT_EQ(gpu.max_sm_mhz, std::nullopt);
  EXPECT_EQ(gpu.slowed_by, (std::vector<std::string>{"power cap", "power brake"}))
      << "being idle and chosen clocks are no slowdown";
  ASSERT_EQ(gpu.processes->size(), 2u);
  EXPECT_EQ(gpu.processes->at(0).name, "python");
  EXPECT_EQ(gpu.processes->at(0).memory_bytes, 1024);
  EXPECT_EQ(gpu.processes->at(1).name, "");
  EXPECT_EQ(gpu.processes->at(1).memory_bytes, std::nullopt);
}

TEST(Nvml, ListsMoreProcessesThanItHadRoomFor) {
  process_count = 100;
  EXPECT_EQ(ReadNvml(FullNvml()).gpus.front().processes->size(), 100u);
  process_count = 100000;  // never fits
  EXPECT_EQ(ReadNvml(FullNvml()).gpus.front().processes, std::nullopt);
}

TEST(Nvml, CountsWithNothingElse) {
  Nvml nvml;
  nvml.DeviceGetCount = FullNvml().DeviceGetCount;
  nvml.DeviceGetHandleByIndex = FullNvml().DeviceGetHandleByIndex;
  const core::NvmlPart part = ReadNvml(nvml);
  ASSERT_EQ(part.gpus.size(), 1u);
  EXPECT_EQ(part.gpus.front().processes, std::nullopt);
  EXPECT_EQ(part.problem.message, "GPU 1 cannot be queried: NVML error (15)");
}

TEST(Nvml, AFailingCountIsSaid) {
  Nvml nvml = FullNvml();
  nvml.DeviceGetCount = [](unsigned*) { return 999; };
  const core::NvmlPart part = ReadNvml(nvml);
  EXPECT_TRUE(part.gpus.empty());
  EXPECT_NE(part.problem.message.find("999"), std::string::npos);
}

}  // namespace
}  // namespace warpwright::gpu
