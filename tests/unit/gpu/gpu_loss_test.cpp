// How a GPU that is lost in the middle of a call is handled: each driver call in turn fails as on a broken GPU, with a
// fake libcuda (fake_cuda.cpp). tests/gpu/loss_gpu_test.cpp does it to a real one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "base/file.h"
#include "compile/compiler.h"
#include "gpu/cuda_device.h"
#include "gpu/driver.h"

extern "C" {
void ww_lose_reset();
long ww_lose_calls();
}

namespace warpwright {
namespace {

constexpr const char* kKernel =
    "__device__ int state; __global__ void k(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x] + state++; "
    "}";

core::KernelParameter Pointer(uint32_t buffer) {
  core::KernelParameter parameter;
  parameter.bytes.resize(8);
  parameter.pointers[0] = {buffer, 0};
  return parameter;
}

class GpuLoss : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(gpu::LoadCudaDriver()) << "the test is not linked to its libcuda";
    auto compiler = compile::Compiler::Create({});
    ASSERT_TRUE(compiler) << compiler.error().Format();
    auto compiled = compiler->Compile({"kernel.cu", kKernel, {}, {"k"}, "sm_90"});
    ASSERT_TRUE(compiled) << compiled.error().Format();
    module_ = std::get<core::CompiledModule>(*compiled);
    auto device = gpu::MakeCudaDevice("cuda", *compiler, [](bool) {});
    ASSERT_TRUE(device) << device.error().Format();
    device_ = std::move(*device);
    core::KernelLaunch launch;
    launch.kernel = "k";
    launch.grid = {1, 1, 1};
    launch.block = {32, 1, 1};
    launch.parameters = {Pointer(0), Pointer(1)};
    for (const char* name : {"out", "in"}) {
      const bool output = plan_.buffers.empty();
      plan_.buffers.push_back({core::PlanBuffer::Kind::kArgument, name, 128});
      buffers_.push_back({name, std::vector<std::byte>(128), output, !output, 0});
    }
    plan_.ops = {launch};
    ::setenv("WW_LOSE_FILE", (std::filesystem::path(folder_->path()) / "lost").c_str(), 1);
    ASSERT_TRUE(base::WriteFileAtomically(folder_->path() / "lost", ""));
  }

  void TearDown() override { ::unsetenv("WW_LOSE_FILE"); }  // else the calls that free memory would not arrive

  // "error: ...", "fault: ..." or "ran"
  template <typename T>
  std::string MessageOf(const Result<T>& outcome) {
    if (!outcome)
      return fmt::format("error {}: {} | {} | {}", static_cast<int>(outcome.error().code), outcome.error().message,
                         outcome.error().remedy, device_->usable());
    const auto* fault = std::get_if<core::Fault>(&*outcome);
    return fault != nullptr ? "fault: " + fault->message : "ran";
  }
  std::string Run() {
    core::ExecuteOptions options;
    options.runs = 2;
    return MessageOf(device_->Run({&module_, &plan_, &buffers_, options}));
  }
  std::string Time() {
    const std::vector<core::TimedBuffer> roles = {core::TimedBuffer{}, core::TimedBuffer{}};
    core::DeviceTimingRequest request;
    request.original = request.candidate = {&module_, &plan_};
    request.buffers = &buffers_;
    request.roles = &roles;
    request.options.blocks = 1;
    request.options.pairs_per_block = 1;
    return MessageOf(device_->Time(request));
  }

  // In a separate process, since a lost GPU stays lost; from call `at` on, calls fail with `with`. Returns its message,
  // and how many calls it made.
  std::pair<std::string, long> Lose(long at, int with, const std::function<std::string()>& act) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("WW_LOSE_AT", std::to_string(at).c_str(), 1);
      ::setenv("WW_LOSE_WITH", std::to_string(with).c_str(), 1);
      ww_lose_reset();
      const std::string said = act();
      const std::string text = fmt::format("{} {}", ww_lose_calls(), said);
      const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
      ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t got = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "the process died";
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    const size_t space = text.find(' ');
    return {space == std::string::npos ? text : text.substr(space + 1), std::atol(text.c_str())};
  }

  Result<base::TemporaryDirectory> folder_ = base::TemporaryDirectory::Create("loss");
  core::CompiledModule module_;
  std::unique_ptr<core::Device> device_;
  core::LaunchPlan plan_;
  std::vector<core::BufferContent> buffers_;
};

// Whichever call it hits (a sample of very many): an Error that names the GPU and a remedy, never a fault, and the
// worker will exit. Failures of the very last calls, which only release resources, may go undetected.
TEST_F(GpuLoss, IsAnErrorAtEveryCall) {
  for (const auto& [name, act] : {std::pair<const char*, std::function<std::string()>>{"run", [&] { return Run(); }},
                                  {"time", [&] { return Time(); }}}) {
    const auto [undisturbed, calls] = Lose(1'000'000, 999, act);
    ASSERT_EQ(undisturbed, "ran") << name;
    ASSERT_GT(calls, 20) << name;
    for (long at = 0; at < calls; at += calls <= 100 || at < 20 ? 1 : calls / 40) {
      const auto [said, made] = Lose(at, 999, act);
      if (made <= at) continue;  // the number of timings differs between runs
      if (said == "ran") {
        EXPECT_LT(made - at, std::min(300L, calls / 2))
            << name << ": call " << at << " of " << made << " went unnoticed";
        continue;
      }
      EXPECT_TRUE(said.starts_with(
          fmt::format("error {}: the NVIDIA H200 (GPU-abababab-abab-abab-abab-abababababab) was lost: ",
                      static_cast<int>(ErrorCode::kEnvironment))))
          << name << " " << at << ": " << said;
      EXPECT_NE(said.find("kernel log for Xid"), std::string::npos) << said;
      EXPECT_TRUE(said.ends_with("| false")) << name << " " << at << ": usable: " << said;
    }
  }
}

TEST_F(GpuLoss, ByEveryResultThatMeansIt) {
  for (const int with : {46, 100, 101, 214, 220, 802, 803, 999})
    for (const long at : {0, 5, 10}) {
      const auto [said, calls] = Lose(at, with, [&] { return Run(); });
      EXPECT_NE(said.find("was lost"), std::string::npos) << with << ": " << said;
    }
}

// A kernel's own fault remains the kernel's, and out of memory is not a lost GPU.
TEST_F(GpuLoss, IsNotWhatAKernelDoes) {
  ::setenv("WW_LOSE_CALL", "cuStreamQuery", 1);
  EXPECT_TRUE(Lose(1, 700, [&] { return Run(); }).first.starts_with("fault: an access to memory that is not its own"));
  ::setenv("WW_LOSE_CALL", "cuMemAlloc_v2", 1);
  const std::string full = Lose(0, 2, [&] { return Run(); }).first;
  EXPECT_NE(full.find("the GPU has no"), std::string::npos) << full;
  EXPECT_TRUE(full.ends_with("| true")) << full;
  // Of an earlier launch that nobody waited for: the worker ends, and another one is asked.
  const std::string late = Lose(0, 719, [&] { return Run(); }).first;
  EXPECT_TRUE(late.starts_with(fmt::format("error {}: ", static_cast<int>(ErrorCode::kWorkerDied)))) << late;
  ::unsetenv("WW_LOSE_CALL");
}

}  // namespace
}  // namespace warpwright
