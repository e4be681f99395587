// A driver, a GPU, a context and kernels that the test compiles; tests skip where one of them is missing.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "gpu/driver.h"

namespace warpwright::gpu {

// Waits at one line. The numbers of its lines start at 1, and its first is empty.
constexpr int kChain = 1 << 20;
constexpr const char* kChase = R"(
__global__ void chase(int* out, const int* next, int steps) {
  int at = threadIdx.x;
  for (int s = 0; s < steps; ++s)
    at = next[at];  // HOT
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
)";
inline int HotLine(const std::string& source) {
  return 1 + static_cast<int>(
                 std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(source.find("// HOT")), '\n'));
}
inline std::vector<int> Chain() {
  std::vector<int> next(kChain);
  for (int i = 0; i < kChain; ++i) next[static_cast<size_t>(i)] = (i + 97 * 1021) % kChain;
  return next;
}

class GpuTest : public testing::Test {
 protected:
  // After this, IsSkipped() and HasFatalFailure() tell whether to go on.
  void Open(const char* source, const std::vector<std::string>& kernels, size_t buffer_bytes) {
    const auto loaded = LoadCudaDriver();
    if (!loaded) GTEST_SKIP() << loaded.error().Format();
    cuda_ = *loaded;
    int devices = 0;
    if (cuda_->DeviceGetCount(&devices) != CUDA_SUCCESS || devices == 0) GTEST_SKIP() << "no GPU";
    Must(cuda_->DeviceGet(&device_, 0), "cuDeviceGet");
    Must(cuda_->DevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    Must(cuda_->CtxSetCurrent(context_), "cuCtxSetCurrent");
    Compile(source, kernels);
    if (HasFatalFailure()) return;
    Must(cuda_->MemAlloc(&in_, buffer_bytes), "cuMemAlloc");
    Must(cuda_->MemAlloc(&out_, buffer_bytes), "cuMemAlloc");
  }
  void TearDown() override {
    if (in_ != 0) cuda_->MemFree(in_);
    if (out_ != 0) cuda_->MemFree(out_);
    while (!modules_.empty()) Unload();
    if (context_ != nullptr) cuda_->DevicePrimaryCtxRelease(device_);
  }

  void Must(CUresult result, const char* call) {
    ASSERT_EQ(result, CUDA_SUCCESS) << call << ": " << cuda_->Describe(result);
  }

  void Compile(const char* source, const std::vector<std::string>& kernels) {
    int major = 0, minor = 0;
    Must(cuda_->DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_),
         "cuDeviceGetAttribute");
    Must(cuda_->DeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_),
         "cuDeviceGetAttribute");
    const auto compiler = compile::Compiler::Create({});
    ASSERT_TRUE(compiler) << compiler.error().Format();
    const auto outcome =
        compiler->Compile({"src/kernels.cu", source, {}, kernels, fmt::format("sm_{}{}", major, minor)});
    ASSERT_TRUE(outcome) << outcome.error().Format();
    ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
    compiled_ = std::get<core::CompiledModule>(*outcome);
  }

  // A copy of the module with addresses of its own; Launch takes the last one. The driver loads lazily: code comes with
  // its function.
  Status Load() {
    CUmodule module = nullptr;
    WW_TRY(cuda_->Check(cuda_->ModuleLoadData(&module, compiled_.cubin.data()), "cuModuleLoadData"));
    modules_.push_back(module);
    for (const auto& kernel : compiled_.kernels) {
      CUfunction function = nullptr;
      WW_TRY(cuda_->Check(cuda_->ModuleGetFunction(&function, module, kernel.symbol.c_str()), "cuModuleGetFunction"));
    }
    return {};
  }
  void Unload() {
    cuda_->ModuleUnload(modules_.back());
    modules_.pop_back();
  }
  Status Launch(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned block_x, unsigned block_y, int number) {
    CUfunction function = nullptr;
    WW_TRY(cuda_->Check(cuda_->ModuleGetFunction(&function, modules_.back(), compiled_.Find(kernel)->symbol.c_str()),
                        "cuModuleGetFunction"));
    void* parameters[] = {&out_, &in_, &number};
    return cuda_->Check(
        cuda_->LaunchKernel(function, grid_x, grid_y, 1, block_x, block_y, 1, 0, nullptr, parameters, nullptr), kernel);
  }
  Status Wait() { return cuda_->Check(cuda_->CtxSynchronize(), "cuCtxSynchronize"); }
  Status RunChase() {
    WW_TRY(Launch("chase", 256, 1, 128, 1, 2000));
    return Wait();
  }

  template <typename T>
  void Upload(CUdeviceptr to, const std::vector<T>& values) {
    Must(cuda_->MemcpyHtoDAsync(to, values.data(), values.size() * sizeof(T), nullptr), "cuMemcpyHtoDAsync");
    Must(cuda_->CtxSynchronize(), "cuCtxSynchronize");
  }

  const CudaDriver* cuda_ = nullptr;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::vector<CUmodule> modules_;
  CUdeviceptr in_ = 0, out_ = 0;
  core::CompiledModule compiled_;
};

}  // namespace warpwright::gpu
