// What the tests that record and compile share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

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

inline void ExpectCompiles(const Slices& slices, const LaunchPlan& plan) {
  CompileRequest request{slices.file, slices.device, slices.device_headers, {}, "sm_90"};
  for (const auto* ops : {&plan.setup, &plan.ops}) {
    for (const PlanOp& op : *ops) {
      if (const auto* launch = std::get_if<KernelLaunch>(&op)) request.kernels.push_back(launch->kernel);
    }
  }
  std::sort(request.kernels.begin(), request.kernels.end());
  request.kernels.erase(std::unique(request.kernels.begin(), request.kernels.end()), request.kernels.end());
  const auto compiled = TheCompiler().Compile(request);
  ASSERT_TRUE(compiled) << compiled.error().Format();
  ASSERT_TRUE(std::holds_alternative<CompiledModule>(*compiled)) << std::get<CompileFailed>(*compiled).log << "\n"
                                                                 << slices.device;
  for (const std::string& kernel : request.kernels)
    EXPECT_NE(std::get<CompiledModule>(*compiled).Find(kernel), nullptr) << kernel;
}

}  // namespace warpwright
