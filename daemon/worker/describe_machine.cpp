#include "worker/describe_machine.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/sandbox.h"
#include "base/subprocess.h"
#include "compile/compiler.h"

namespace warpwright::worker {
namespace {

namespace fs = std::filesystem;
constexpr const char* kHostCompiler = "g++";  // of source/recorder_build.cpp
constexpr const char* kAnyArch = "sm_90";

core::Problem Of(const Error& error) { return {error.message, error.remedy}; }

bool OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (::access((fs::path(rest.substr(0, colon)) / program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

core::ToolkitPart DescribeToolkit() {
  core::ToolkitPart part;
  const auto toolkit = compile::FindToolkit();
  if (toolkit) part.root = toolkit->root.string();
  else part.problem = Of(toolkit.error());
  const auto has = [&](const char* program) {
    if (toolkit)
      for (const char* folder : {"bin", "compute-sanitizer"})
        if (::access((toolkit->root / folder / program).c_str(), X_OK) == 0) return true;
    return OnPath(program);
  };
  part.nvcc = has("nvcc");
  part.compute_sanitizer = has("compute-sanitizer");
  return part;
}

core::HostCompilerPart DescribeHostCompiler() {
  core::HostCompilerPart part;
  base::Command command;
  command.argv = {kHostCompiler, "--version"};
  command.env = base::MinimalEnvironment();
  command.deadline = std::chrono::seconds(10);
  const auto done = base::Run(command);
  if (done && done->exit_code == 0) part.version = done->out.substr(0, done->out.find('\n'));
  else
    part.problem = {
        std::string("no host compiler: ") +
            (done ? std::string(kHostCompiler) + " fails: " + done->err.substr(0, 300) : done.error().message),
        "install g++ 12 or newer with its standard library: it compiles the recorders of launches"};
  return part;
}

core::SandboxPart DescribeSandbox() {
  core::SandboxPart part;
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  part.landlock = static_cast<int>(std::max(abi, 0L));
  base::Sandbox sandbox;
  sandbox.enabled = true;
  if (const auto prepared = base::PreparedSandbox::Prepare(sandbox)) part.missing = prepared->notes();
  else part.missing = {prepared.error().message};
  return part;
}

core::NvrtcPart DescribeNvrtc(const std::string& arch) {
  core::NvrtcPart part;
  part.arch = arch;
  const auto compiler = compile::Compiler::Create({});  // no cache: it must compile
  if (!compiler) {
    part.problem = Of(compiler.error());
    return part;
  }
  part.version = compiler->toolchain().substr(compiler->toolchain().rfind(' ') + 1);
  compile::CompileRequest request;
  request.file = "doctor.cu";
  request.text = "#include <cuda_fp16.h>\n__global__ void doctor(__half* p) { p[threadIdx.x] = __float2half(1.0f); }\n";
  request.kernels = {"doctor"};
  request.arch = arch;
  const auto outcome = compiler->Compile(request);
  if (!outcome) part.problem = Of(outcome.error());
  else if (const auto* failed = std::get_if<core::CompileFailed>(&*outcome))
    part.problem = {"NVRTC cannot compile a kernel for " + arch + ": " + failed->log.substr(0, 500),
                    "the toolkit is incomplete or too old for the GPU: install CUDA 13, and set CUDA_HOME"};
  return part;
}

}  // namespace

void DescribeMachine(const DeviceDescriber& describe_device, const MachineTeller& tell) {
  const auto one = [&](const auto& set) {
    core::Machine part;
    set(part);
    tell(part);
  };
  one([](core::Machine& m) { m.toolkit = DescribeToolkit(); });
  one([](core::Machine& m) { m.host_compiler = DescribeHostCompiler(); });
  one([](core::Machine& m) { m.sandbox = DescribeSandbox(); });
  describe_device(tell, [&](const std::string& arch) {
    one([&](core::Machine& m) { m.nvrtc = DescribeNvrtc(arch.empty() ? kAnyArch : arch); });
  });
}

}  // namespace warpwright::worker
