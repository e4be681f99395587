// What the tests that record and compile share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "base/file.h"
#include "compile/compiler.h"
#include "config/chip_file.h"
#include "source/record.h"

namespace warpwright {

inline Chip TestChip() { return *LoadChip("h200"); }

// One for the whole program, so that the shim is precompiled once.
inline const std::filesystem::path& RecorderCache() {
  static const TemporaryDirectory folder = std::move(*TemporaryDirectory::Create("ww-source-test"));
  return folder.path();
}

inline const Compiler& TheCompiler() {
  static const Compiler compiler = std::move(*Compiler::Create({}));
  return compiler;
}

// A case of a manifest, with nothing for the host to read.
inline RecordRequest RequestFor(const KernelSpec& spec, const Case& c) {
  RecordRequest request;
  request.spec = &spec;
  request.scalars = c.scalars;
  for (const Argument& argument : spec.args) {
    const auto* buffer = std::get_if<BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = ShapeOf(argument, c);
    if (!shape) throw std::runtime_error(shape.error().Format());
    uint64_t bytes = SizeOf(buffer->dtype);
    for (const int64_t extent : *shape) bytes *= static_cast<uint64_t>(extent);
    request.buffers.push_back({argument.name, bytes, 0, {}});
  }
  request.chip = TestChip();
  request.cache = RecorderCache();
  return request;
}

// The program of a slice, with the kernels that the plan launches.
inline CompileRequest ProgramOf(const Slices& slices, const LaunchPlan& plan) {
  CompileRequest request{slices.file, slices.device, slices.device_headers, {}, "sm_90"};
  for (const auto* ops : {&plan.setup, &plan.ops}) {
    for (const PlanOp& op : *ops) {
      if (const auto* launch = std::get_if<KernelLaunch>(&op)) request.kernels.push_back(launch->kernel);
    }
  }
  std::sort(request.kernels.begin(), request.kernels.end());
  request.kernels.erase(std::unique(request.kernels.begin(), request.kernels.end()), request.kernels.end());
  return request;
}

inline void ExpectCompiles(const Slices& slices, const LaunchPlan& plan) {
  const CompileRequest request = ProgramOf(slices, plan);
  const auto compiled = TheCompiler().Compile(request);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  ASSERT_TRUE(std::holds_alternative<CompiledModule>(*compiled)) << std::get<CompileFailed>(*compiled).log << "\n"
                                                                 << slices.device;
  for (const std::string& kernel : request.kernels)
    EXPECT_NE(std::get<CompiledModule>(*compiled).Find(kernel), nullptr) << kernel;
}

}  // namespace warpwright
