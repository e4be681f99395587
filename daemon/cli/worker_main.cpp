// warpwright-worker: parses, slices, records, compiles and simulates what it is sent, one call at a time
// (worker/frame.h).
//
// Options: --cache DIR (compiled modules and recorders), --readable DIR (repeatable; sources), --gpu (it may use one),
// --memory-gib N, --no-sandbox, --version; --toolchain prints the compiler and exits, --describe-gpu NAME a GPU as JSON
// (gpu/describe.h), --doctor DEVICE everything that `warpwright doctor` queries (worker/machine_json.h). Exit codes: 0
// the peer closed the pipe, 2 usage, 3 something is missing in the environment.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/page_reuse.h"
#include "base/sandbox.h"
#include "cli/exit_code.h"
#include "cli/version.h"
#include "cli/worker_devices.h"
#include "compile/toolkit.h"
#include "gpu/describe.h"
#include "worker/cache_trim.h"
#include "worker/describe_machine.h"
#include "worker/machine_json.h"
#include "worker/serve.h"

namespace warpwright::cli {
namespace {

// For simulated buffers that are larger than the machine, of which little is touched.
constexpr uint64_t kReservedGib = 1024;

struct WorkerOptions {
  std::filesystem::path cache;
  std::vector<std::filesystem::path> readable;
  uint64_t memory_gib = 16;
  bool sandbox = true;
  bool gpu = false;
  bool print_toolchain = false;
  std::string describe_gpu;
  std::string doctor;
};

Result<WorkerOptions> ParseOptions(int argc, char** argv) {
  WorkerOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--cache") {
      options.cache = value();
    } else if (name == "--readable") {
      options.readable.push_back(std::filesystem::absolute(value()));
    } else if (name == "--memory-gib") {
      options.memory_gib = std::strtoull(value().c_str(), nullptr, 10);
    } else if (name == "--no-sandbox") {
      options.sandbox = false;
    } else if (name == "--gpu") {
      options.gpu = true;
    } else if (name == "--describe-gpu") {
      options.describe_gpu = value();
    } else if (name == "--doctor") {
      options.doctor = value();
    } else if (name == "--toolchain") {
      options.print_toolchain = true;
    } else if (name == "--version") {
      std::printf("warpwright-worker %s\n", kVersion);
      std::exit(kExitDone);
    } else {
      return Fail(ErrorCode::kUsage, "unknown option '" + std::string(name) + "'",
                  "warpwright-worker --cache DIR [--readable DIR]... [--gpu] [--memory-gib N] [--no-sandbox]");
    }
  }
  if (options.cache.empty()) return Fail(ErrorCode::kUsage, "--cache DIR is missing");
  return options;
}

// What the driver and CUPTI open, determined by tracing them.
void AllowGpu(base::Sandbox& sandbox) {
  for (const char* path : {"/proc", "/sys", "/etc", "/run/nvidia-persistenced"}) sandbox.readable.emplace_back(path);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error))
    if (entry.path().filename().string().rfind("nvidia", 0) == 0) sandbox.devices.push_back(entry.path());
  sandbox.devices.emplace_back("/dev/shm");
  // The lease's file is here (gpu/lease.h).
  sandbox.writable.emplace_back(std::filesystem::is_directory("/run/lock", error) ? "/run/lock" : "/tmp");
}

// Everything that the worker will need later must be readable or writable now: the rules cannot be widened afterwards.
// Returns what could not be enforced.
Result<std::vector<std::string>> EnterSandbox(const WorkerOptions& options) {
  base::Sandbox sandbox;
  sandbox.enabled = options.sandbox;
#ifndef WW_SANITIZED  // whose shadow takes terabytes of addresses
  sandbox.memory_bytes = options.memory_gib << 30;
  sandbox.address_bytes = (options.memory_gib + kReservedGib) << 30;
#endif
  sandbox.readable = options.readable;
  if (const auto toolkit = compile::FindToolkit()) sandbox.readable.push_back(toolkit->root);
  sandbox.writable = {options.cache};
  if (options.gpu) AllowGpu(sandbox);
  WW_ASSIGN(base::PreparedSandbox prepared,
            base::PreparedSandbox::Prepare(sandbox, std::filesystem::canonical("/proc/self/exe")));
  if (const char* step = prepared.Apply(); step != nullptr) return FailErrno(step);
  return prepared.notes();
}

// Frames have their own descriptors; anything that is printed goes to stderr and cannot forge a frame.
struct FrameDescriptors {
  base::Fd in, out;
};
Result<FrameDescriptors> TakeStandardStreams() {
  FrameDescriptors frames{base::Fd(::fcntl(0, F_DUPFD_CLOEXEC, 3)), base::Fd(::fcntl(1, F_DUPFD_CLOEXEC, 3))};
  const base::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!frames.in.valid() || !frames.out.valid() || !null.valid() || ::dup2(null.get(), 0) < 0 || ::dup2(2, 1) < 0)
    return FailErrno("set up the pipes");
  return frames;
}

Status Main(int argc, char** argv) {
  WW_ASSIGN(WorkerOptions options, ParseOptions(argc, argv));
  if (options.print_toolchain) {
    WW_ASSIGN(const compile::Compiler compiler, compile::Compiler::Create({}));
    std::printf("%s\n", compiler.toolchain().c_str());
    return {};
  }
  if (!options.describe_gpu.empty()) {
    WW_ASSIGN(const std::string json, gpu::DescribeGpu(options.describe_gpu));
    std::printf("%s\n", json.c_str());
    return {};
  }
  if (!options.doctor.empty()) {
    worker::DescribeMachine(DescriberOf(options.doctor), [](const core::Machine& part) {
      std::printf("%s\n", worker::EncodeMachine(part).c_str());
      std::fflush(stdout);  // the next part may end the process
    });
    return {};
  }
  std::error_code error;
  std::filesystem::create_directories(options.cache / "tmp", error);
  if (error) return Fail(ErrorCode::kEnvironment, "create " + options.cache.string() + ": " + error.message());
  options.cache = std::filesystem::canonical(options.cache, error);
  ::setenv("TMPDIR", (options.cache / "tmp").c_str(), 1);
  // A compiler looks for includes next to the file that it compiles; here, nothing is next to a file.
  if (::chdir((options.cache / "tmp").c_str()) != 0) return FailErrno("chdir to " + (options.cache / "tmp").string());
  WW_ASSIGN(const FrameDescriptors frames, TakeStandardStreams());
  std::optional<worker::WorkerAreas> areas = worker::AdoptAreas();
  WW_ASSIGN(const std::vector<std::string> notes, EnterSandbox(options));
  std::string hello = std::string("warpwright-worker ") + kVersion;
  for (const auto& note : notes) {
    std::fprintf(stderr, "warpwright-worker: %s\n", note.c_str());
    hello += "\n" + note;
  }
  worker::TrimCache(options.cache);
  worker::Service service(options.cache, OpenDevice);
  const Status served = worker::Serve(service, frames.in.get(), frames.out.get(), hello, std::move(areas));
  // Destructors and exit handlers would wait for a kernel that hangs; the driver ends the kernel with the process.
  if (!service.usable()) std::_Exit(kExitDone);
  return served;
}

}  // namespace
}  // namespace warpwright::cli

#ifdef WW_SANITIZED
// Looking for leaks starts a process, which the sandbox forbids.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

int main(int argc, char** argv) {
  warpwright::base::KeepFreedPages();
  const auto status = warpwright::cli::Main(argc, argv);
  if (status) return warpwright::cli::kExitDone;
  std::fprintf(stderr, "warpwright-worker: %s\n", status.error().Format().c_str());
  return warpwright::cli::ExitCodeOf(status.error());
}
