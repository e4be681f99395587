// Compiles a source with NVRTC and runs one of its kernels on a simulated device.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "config/chip_file.h"
#include "sim/sim_device.h"

namespace warpwright {

inline core::CompiledModule CompileForTest(const std::string& text, std::vector<std::string> kernels,
                                           const std::string& arch) {
  static const compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  auto outcome = compiler.Compile({"test.cu", text, {}, std::move(kernels), arch});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().Format();
    return {};
  }
  if (auto* failed = std::get_if<core::CompileFailed>(&*outcome)) {
    ADD_FAILURE() << failed->log;
    return {};
  }
  return std::move(std::get<core::CompiledModule>(*outcome));
}

template <typename T>
std::vector<std::byte> ToBytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> FromBytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Builds a plan operation by operation and runs it.
class TestRun {
 public:
  uint32_t Buffer(const std::string& name, std::vector<std::byte> bytes, bool output = false) {
    plan.buffers.push_back({core::PlanBuffer::Kind::kArgument, name, bytes.size()});
    contents.push_back({name, std::move(bytes), output, !output, 0});
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  uint32_t Workspace(uint64_t bytes) {
    plan.buffers.push_back(
        {core::PlanBuffer::Kind::kWorkspace, "workspace " + std::to_string(plan.buffers.size()), bytes});
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  static core::KernelParameter Pointer(uint32_t buffer, int64_t offset = 0) {
    core::KernelParameter parameter;
    parameter.bytes.resize(8);
    parameter.pointers[0] = {buffer, offset};
    return parameter;
  }
  template <typename T>
  static core::KernelParameter Value(T value) {
    core::KernelParameter parameter;
    parameter.bytes.resize(sizeof(T));
    std::memcpy(parameter.bytes.data(), &value, sizeof(T));
    return parameter;
  }
  core::KernelLaunch& Launch(const std::string& kernel, core::Dim3 grid, core::Dim3 block,
                             std::vector<core::KernelParameter> parameters, uint32_t shared = 0) {
    core::KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = shared;
    launch.parameters = std::move(parameters);
    plan.ops.push_back(std::move(launch));
    return std::get<core::KernelLaunch>(plan.ops.back());
  }
  Result<core::DeviceOutcome> Run(core::Device& device, const core::CompiledModule& module) {
    return device.Run({&module, &plan, &contents, options});
  }
  // Returns the run; a fault or an error is a test failure.
  core::DeviceRun MustRun(core::Device& device, const core::CompiledModule& module) {
    auto outcome = Run(device, module);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().Format();
      return {};
    }
    if (auto* fault = std::get_if<core::Fault>(&*outcome)) {
      ADD_FAILURE() << core::Name(fault->kind) << ": " << fault->message << " line " << fault->line;
      return {};
    }
    return std::move(std::get<core::DeviceRun>(*outcome));
  }
  core::Fault MustFault(core::Device& device, const core::CompiledModule& module) {
    auto outcome = Run(device, module);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().Format();
      return {};
    }
    if (std::holds_alternative<core::DeviceRun>(*outcome)) {
      ADD_FAILURE() << "it ran";
      return {};
    }
    return std::get<core::Fault>(*outcome);
  }

  core::LaunchPlan plan;
  std::vector<core::BufferContent> contents;
  core::ExecuteOptions options;
};

}  // namespace warpwright
