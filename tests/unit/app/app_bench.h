// A repository, a workspace on it and a device of C++ functions: the common setup of use-case tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/judging.h"
#include "app/workspace.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/chip_file.h"
#include "memory/experience.h"
#include "tests/support/elementwise_entry.h"
#include "tests/support/rewriting_device.h"
#include "tests/support/temp_repository.h"

namespace warpwright {

// Every source has one entry, `launch`, whose text defines what it does; a last line "// remark" is none of it.
class FakeDevice final : public RewritingDevice {
 public:
  Result<core::Inspection> Inspect(const core::SourceRef& source) override {
    inspected.push_back(source.file);
    core::Inspection inspection;
    core::EntryInfo entry;
    entry.name = "launch";
    entry.slice_hash = base::Sha256(source.text.substr(0, source.text.find("// remark")));
    entry.parameters = parameters;
    entry.refusal = refusal;
    entry.refusal_line = refusal.empty() ? 0 : 14;
    inspection.entries = {entry};
    return inspection;
  }
  Result<core::ExecuteOutcome> Execute(const core::ExecuteRequest& request) override {
    ++executions;
    if (failing == request.spec.name) return Fail(ErrorCode::kIo, "the GPU is lost");
    return RewritingDevice::Execute(request);
  }

  std::vector<core::ParameterInfo> parameters;
  std::vector<std::string> inspected;  // files
  std::string failing;                 // this kernel's runs are Errors
  std::string refusal;                 // why no entry can be optimized
  int executions = 0;
};

inline void TwiceOf(FakeRun& run) {
  for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 2 * run.Get("in", i));
}
inline void ThriceOf(FakeRun& run) {
  for (size_t i = 0; i < run.Size("out"); ++i) run.Set("out", i, 3 * run.Get("in", i));
}

inline std::string ManifestWith(const std::vector<std::string>& kernels) {
  std::string entries;
  for (const std::string& name : kernels) entries += ElementwiseEntry(name, "{name: typical, N: 1000}", "launch");
  return ManifestOf(entries) + "policy: {max_rounds: 2}\n";
}

class AppTest : public testing::Test {
 protected:
  AppTest() : folder_(std::move(*base::TemporaryDirectory::Create("ww-app"))) {
    device_.kernels.Add("original", TwiceOf, 400);
  }

  // A commit with these kernels, each with the marker "original".
  std::string CommitKernels(const std::vector<std::string>& names) {
    repository_.Write(".warpwright.yml", ManifestWith(names));
    for (const std::string& name : names) repository_.Write(name + ".cu", "// original " + name + "\n");
    return repository_.Commit("kernels");
  }
  app::Workspace Open(std::vector<std::string> kernels = {}, const std::optional<core::GpuFacts>& gpu = {}) const {
    return app::Workspace(
        std::move(*repo::Repository::Open(repository_.path())), folder_.path(),
        app::TargetDevice{.name = gpu ? "cuda:0" : "sim:h200", .chip = *config::LoadChip("h200"), .gpu = gpu},
        std::move(kernels));
  }
  app::ToolchainSource toolchain() {
    return [this]() -> Result<std::string> {
      ++toolchain_asked_;
      return toolchain_;
    };
  }
  app::JudgingServices judging() { return {.trusted = device_, .toolchain = toolchain()}; }

  TempRepository repository_;
  base::TemporaryDirectory folder_;  // state
  FakeDevice device_;
  Result<std::string> toolchain_ = std::string("NVRTC 13.0");
  int toolchain_asked_ = 0;
};

}  // namespace warpwright
