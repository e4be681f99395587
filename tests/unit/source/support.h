// Shared by the tests that record and compile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compile/compiler.h"
#include "config/chip_file.h"
#include "source/record.h"
#include "tests/support/compiled_cache.h"

namespace warpwright {

inline core::Chip TestChip() { return *config::LoadChip("h200"); }

inline const compile::Compiler& TheCompiler() {
  static const compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  return compiler;
}

// A case of a manifest, without content for host reads.
inline source::RecordRequest RequestFor(const core::KernelSpec& spec, const core::Case& c) {
  source::RecordRequest request;
  request.spec = &spec;
  request.scalars = c.scalars;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr) continue;
    const auto shape = core::ShapeOf(argument, c);
    if (!shape) throw std::runtime_error(shape.error().Format());
    uint64_t bytes = core::SizeOf(buffer->dtype);
    for (const int64_t extent : *shape) bytes *= static_cast<uint64_t>(extent);
    request.buffers.push_back({argument.name, bytes, 0, {}});
  }
  request.chip = TestChip();
  request.cache = CompiledCache();
  return request;
}

// The program of a slice, with the kernels that the plan launches.
inline compile::CompileRequest ProgramOf(const source::Slices& slices, const core::LaunchPlan& plan) {
  compile::CompileRequest request{slices.file, slices.device, slices.device_headers, {}, "sm_90"};
  request.options = slices.build;
  for (const auto* ops : {&plan.setup, &plan.ops}) {
    for (const core::PlanOp& op : *ops) {
      if (const auto* launch = std::get_if<core::KernelLaunch>(&op)) request.kernels.push_back(launch->kernel);
    }
  }
  std::sort(request.kernels.begin(), request.kernels.end());
  request.kernels.erase(std::unique(request.kernels.begin(), request.kernels.end()), request.kernels.end());
  return request;
}

inline void ExpectCompiles(const source::Slices& slices, const core::LaunchPlan& plan) {
  const compile::CompileRequest request = ProgramOf(slices, plan);
  const auto compiled = TheCompiler().Compile(request);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*compiled))
      << std::get<core::CompileFailed>(*compiled).log << "\n"
      << slices.device;
  for (const std::string& kernel : request.kernels)
    EXPECT_NE(std::get<core::CompiledModule>(*compiled).Find(kernel), nullptr) << kernel;
}

}  // namespace warpwright
