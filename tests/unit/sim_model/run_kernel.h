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

inline CompiledModule CompileForTest(const std::string& text, std::vector<std::string> kernels,
                                     const std::string& arch) {
  static const Compiler compiler = std::move(*Compiler::Create({}));
  auto outcome = compiler.Compile({"test.cu", text, {}, std::move(kernels), arch});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().Format();
    return {};
  }
  if (auto* failed = std::get_if<CompileFailed>(&*outcome)) {
    ADD_FAILURE() << failed->log;
    return {};
  }
  return std::move(std::get<CompiledModule>(*outcome));
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
    plan.buffers.push_back({PlanBuffer::Kind::kArgument, name, bytes.size()});
    contents.push_back({name, std::move(bytes), output, !output, 0});
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  uint32_t Workspace(uint64_t bytes) {
    plan.buffers.push_back({PlanBuffer::Kind::kWorkspace, "workspace " + std::to_string(plan.buffers.size()), bytes});
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  static KernelParameter Pointer(uint32_t buffer, int64_t offset = 0) {
    KernelParameter parameter;
    parameter.bytes.resize(8);
    parameter.pointers[0] = {buffer, offset};
    return parameter;
  }
  template <typename T>
  static KernelParameter Value(T value) {
    KernelParameter parameter;
    parameter.bytes.resize(sizeof(T));
    std::memcpy(parameter.bytes.data(), &value, sizeof(T));
    return parameter;
  }
  KernelLaunch& Launch(const std::string& kernel, Dim3 grid, Dim3 block, std::vector<KernelParameter> parameters,
                       uint32_t shared = 0) {
    KernelLaunch launch;
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = shared;
    launch.parameters = std::move(parameters);
    plan.ops.push_back(std::move(launch));
    return std::get<KernelLaunch>(plan.ops.back());
  }
  Result<DeviceOutcome> Run(Device& device, const CompiledModule& module) {
    return device.Run({&module, &plan, &contents, options});
  }
  // The run, or a test failure with the fault or the error.
  DeviceRun MustRun(Device& device, const CompiledModule& module) {
    auto outcome = Run(device, module);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().Format();
      return {};
    }
    if (auto* fault = std::get_if<Fault>(&*outcome)) {
      ADD_FAILURE() << Name(fault->kind) << ": " << fault->message << " line " << fault->line;
      return {};
    }
    return std::move(std::get<DeviceRun>(*outcome));
  }
  Fault MustFault(Device& device, const CompiledModule& module) {
    auto outcome = Run(device, module);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().Format();
      return {};
    }
    if (std::holds_alternative<DeviceRun>(*outcome)) {
      ADD_FAILURE() << "it ran";
      return {};
    }
    return std::get<Fault>(*outcome);
  }

  LaunchPlan plan;
  std::vector<BufferContent> contents;
  ExecuteOptions options;
};

}  // namespace warpwright
