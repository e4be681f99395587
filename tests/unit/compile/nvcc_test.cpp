#include "compile/nvcc.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include "base/file.h"
#include "compile/module_cache.h"

namespace warpwright {
namespace {

class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (::access((compiler.toolkit().root / "bin/nvcc").c_str(), X_OK) != 0) GTEST_SKIP() << "the toolkit has no nvcc";
  }
  core::CompiledModule Slice(const std::string& text, const std::vector<std::string>& kernels) {
    auto outcome = compiler.Compile({.file = "src/a.cu", .text = text, .headers = {}, .kernels = kernels});
    EXPECT_TRUE(outcome && std::holds_alternative<core::CompiledModule>(*outcome));
    return outcome ? std::get<core::CompiledModule>(std::move(*outcome)) : core::CompiledModule();
  }
  compile::CompileOutcome Whole(const std::string& text, const core::CompiledModule& module,
                                const core::BuildOptions& build = {}) {
    for (const char* path : {"src/scale.cuh", "third_party/x/far.cuh"})
      EXPECT_TRUE(base::WriteFileAtomically(folder->path() / path, "#pragma once\nconstexpr float kScale = 3;\n"));
    auto outcome =
        compile::CompileWithNvcc(compiler.toolkit(), {folder->path().string(), "src/a.cu", text, build}, module);
    EXPECT_TRUE(outcome) << outcome.error().Format();
    auto* whole = outcome ? std::get_if<compile::WholeBuild>(&*outcome) : nullptr;
    if (whole == nullptr) return outcome ? std::get<core::CompileFailed>(*outcome) : core::CompileFailed{};
    EXPECT_TRUE(whole->host_files.contains(whole->host_main));
    return whole->module;
  }

  compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  Result<base::TemporaryDirectory> folder = base::TemporaryDirectory::Create("warpwright-test");
};

TEST_F(Nvcc, MakesTheSameKernelsOfTheWholeFile) {
  const core::CompiledModule module = Slice(
      "namespace { template <class T> __global__ void scale(T* x) { x[threadIdx.x] *= 3; } }\n"
      "static __global__ void clear(float* x) { x[threadIdx.x] = 0; }\n",
      {"scale<float>", "clear"});
  const auto outcome = Whole(
      "#include <vector>\n#include \"scale.cuh\"\n"
      "namespace { template <class T> __global__ void scale(T* x) { x[threadIdx.x] *= kScale; } }\n"
      "static __global__ void clear(float* x) { x[threadIdx.x] = 0; }\n"
      "void launch(float* x) { std::vector<int> n(1, 32); scale<float><<<1, n[0]>>>(x); clear<<<1, 1>>>(x); }\n",
      module);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(outcome)) << std::get<core::CompileFailed>(outcome).log;
  const auto& built = std::get<core::CompiledModule>(outcome);
  ASSERT_EQ(built.kernels.size(), 2u);
  for (const core::KernelResources& kernel : built.kernels) {
    EXPECT_GT(kernel.registers, 0) << kernel.kernel;
    EXPECT_NE(built.ptx.find(".entry " + kernel.symbol + "("), std::string::npos) << kernel.symbol;
  }
  EXPECT_FALSE(built.cubin.empty());
  EXPECT_NE(built.key, module.key);
}

// Another process of the same task finds it.
TEST_F(Nvcc, WhatItMadeOfAFileIsKept) {
  const core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  const auto outcome = compile::CompileWithNvcc(
      compiler.toolkit(),
      {folder->path().string(), "a.cu", "__global__ void k(float* x) { *x = 1; }  // caf\xe9\n", {}}, module);
  ASSERT_TRUE(outcome && std::holds_alternative<compile::WholeBuild>(*outcome));
  const auto& whole = std::get<compile::WholeBuild>(*outcome);
  const compile::ModuleCache cache(folder->path());
  EXPECT_FALSE(cache.LoadWhole("key"));
  cache.StoreWhole("key", whole);
  const auto kept = cache.LoadWhole("key");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->module.ptx, whole.module.ptx);
  EXPECT_EQ(kept->module.cubin, whole.module.cubin);
  EXPECT_EQ(kept->module.kernels.size(), 1u);
  EXPECT_EQ(kept->host_files, whole.host_files);
  EXPECT_EQ(kept->host_main, whole.host_main);
  EXPECT_FALSE(cache.LoadWhole("other"));
}

TEST_F(Nvcc, SaysWhatItRefusesAndWhatIsMissing) {
  const core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  const auto broken = Whole("__global__ void k(float* x) { undeclared(); }\n", module);
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(broken));
  EXPECT_NE(std::get<core::CompileFailed>(broken).log.find("undeclared"), std::string::npos);
  const auto hidden = Whole("#ifndef __NVCC__\n__global__ void k(float* x) { *x = 1; }\n#endif\n", module);
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(hidden));
  EXPECT_NE(std::get<core::CompileFailed>(hidden).log.find("src/a.cu: error: nvcc makes no kernel 'k'"),
            std::string::npos);
}

// int64_t is a long long for NVRTC and a long for nvcc.
TEST_F(Nvcc, FindsKernelsWithWideIntegers) {
  const std::string text =
      "template <class T> __global__ void k(T* x, int64_t n, const uint64_t* m) { x[n] = *m; }\n"
      "void launch(float* x, int64_t* y, const uint64_t* m) { k<<<1, 1>>>(x, 1, m), k<<<1, 1>>>(y, 1, m); }\n";
  const std::string slice = text.substr(0, text.find("void launch"));
  const core::CompiledModule module =
      Slice("typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n" + slice, {"k<float>", "k<int64_t>"});
  ASSERT_EQ(module.kernels.size(), 2u);
  const auto built = Whole("#include <cstdint>\n" + text, module);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(built)) << std::get<core::CompileFailed>(built).log;
}

TEST_F(Nvcc, CompilesTheHostCodeToo) {
  const core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  const auto broken =
      Whole("__global__ void k(float* x) { *x = 1; }\nvoid launch(float* x) { k<<<1, 1>>>(x, x); }\n", module);
  EXPECT_TRUE(std::holds_alternative<core::CompileFailed>(broken));
}

// As the manifest says, and without what it does not say.
TEST_F(Nvcc, BuildsAsTheProjectDoes) {
  const core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  const std::string text =
      "#include <far.cuh>\ntemplate <class T> concept Any = true;\n"
      "constexpr float Twice(float x) { return 2 * x; }\n"
      "__global__ void k(float* x) { *x = SCALE * Twice(__sinf(*x) / kScale); }\n";
  core::BuildOptions build;
  build.include = {"third_party/x"};
  build.define = {{"SCALE", "(1 + 2 * 3)"}};
  build.standard = core::CxxStandard::k20;
  EXPECT_TRUE(std::holds_alternative<core::CompileFailed>(Whole(text, module, build))) << "constexpr of the host";
  build.flags = {core::BuildFlag::kRelaxedConstexpr};
  const auto exact = Whole(text, module, build);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(exact)) << std::get<core::CompileFailed>(exact).log;
  build.flags.insert(core::BuildFlag::kUseFastMath);
  const auto fast = Whole(text, module, build);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(fast)) << std::get<core::CompileFailed>(fast).log;
  EXPECT_EQ(std::get<core::CompiledModule>(exact).ptx.find("div.approx"), std::string::npos);
  EXPECT_NE(std::get<core::CompiledModule>(fast).ptx.find("div.approx"), std::string::npos);
}

TEST_F(Nvcc, BuildsForOneArchitectureAlone) {
  core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  module.arch = "sm_90a";
  const auto built = Whole(
      "__global__ void k(float* x) {\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
      "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n  *x = 1;\n#else\n  __trap();\n#endif\n}\n",
      module);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(built)) << std::get<core::CompileFailed>(built).log;
  EXPECT_NE(std::get<core::CompiledModule>(built).ptx.find("wgmma.fence"), std::string::npos);
}

// nvcc hands its command lines to a shell.
TEST_F(Nvcc, RunsNothingThatAFoldersNameSays) {
  const core::CompiledModule module = Slice("__global__ void k(float* x) { *x = 1; }\n", {"k"});
  const std::string file = "$(touch made)/a.cu";
  const auto outcome = compile::CompileWithNvcc(
      compiler.toolkit(), {folder->path().string(), file, "__global__ void k(float* x) { *x = 1; }\n"}, module);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnsupported);
}

// A text on which nvcc never ends is one that it refuses.
TEST(FakeNvcc, ThatDoesNotEndRefuses) {
  const auto root = base::TemporaryDirectory::Create("warpwright-test");
  ASSERT_TRUE(root);
  const compile::Toolkit toolkit{root->path() / "toolkit", {}, {}};
  ASSERT_TRUE(base::WriteFileAtomically(toolkit.root / "bin/nvcc", "#!/bin/sh\nexec sleep 60\n"));
  std::filesystem::permissions(toolkit.root / "bin/nvcc", std::filesystem::perms::owner_all);
  const auto outcome =
      compile::CompileWithNvcc(toolkit, {root->path().string(), "a.cu", ""}, {}, std::chrono::milliseconds(300));
  ASSERT_TRUE(outcome) << outcome.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(*outcome));
  EXPECT_EQ(std::get<core::CompileFailed>(*outcome).log, "a.cu: error: nvcc did not end in time");
}

TEST(SameKernel, IsFoundUnderTheNamesOfFiles) {
  const std::string ptx =
      ".visible .entry _Z1kPf(\n.entry _ZN36_INTERNAL_4fbd9b84_4_a_cu_1a2b3c4d5e1jEPf(\n"
      ".entry _ZN3two1kEPf(\n";
  EXPECT_EQ(compile::SameKernelIn(ptx, "_Z1kPf"), "_Z1kPf");
  EXPECT_EQ(compile::SameKernelIn(ptx, "_ZN12_GLOBAL__N_11jEPf"), "_ZN36_INTERNAL_4fbd9b84_4_a_cu_1a2b3c4d5e1jEPf");
  EXPECT_EQ(compile::SameKernelIn(ptx, "_Z1lPf"), "");
  EXPECT_EQ(compile::SameKernelIn(ptx + ".entry _ZN12_GLOBAL__N_11jEPf(\n.entry _ZN12_GLOBAL__N_21jEPf(\n",
                                  "_ZN12_GLOBAL__N_31jEPf"),
            "")
      << "several";
}

}  // namespace
}  // namespace warpwright
