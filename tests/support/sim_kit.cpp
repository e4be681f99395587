#include "tests/support/sim_kit.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace warpwright::sim {
namespace {

[[noreturn]] void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

template <typename F>
F Symbol(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) Die(std::string("NVRTC lacks ") + name);
  return reinterpret_cast<F>(symbol);
}

void* Library() {
  static void* const library = [] {
    for (const char* name : {WW_CUDA_ROOT "/lib64/libnvrtc.so", WW_CUDA_ROOT "/lib/libnvrtc.so", "libnvrtc.so.13"})
      if (void* opened = dlopen(name, RTLD_NOW)) return opened;
    Die("libnvrtc is not there");
  }();
  return library;
}

}  // namespace

std::string CompileToPtx(std::string_view source, std::string_view arch) {
  void* lib = Library();
  nvrtcProgram program = nullptr;
  const std::string text(source), target = "--gpu-architecture=" + std::string(arch);
  Symbol<decltype(&nvrtcCreateProgram)>(lib, "nvrtcCreateProgram")(&program, text.c_str(), "kernel.cu", 0, nullptr,
                                                                   nullptr);
  const char* options[] = {target.c_str(),
                           "-lineinfo",
                           "-default-device",
                           "-std=c++17",
                           "-I" WW_CUDA_ROOT "/include",
                           "-I" WW_CUDA_ROOT "/include/cccl"};
  const auto result = Symbol<decltype(&nvrtcCompileProgram)>(lib, "nvrtcCompileProgram")(
      program, static_cast<int>(std::size(options)), options);
  size_t size = 0;
  if (result != NVRTC_SUCCESS) {
    Symbol<decltype(&nvrtcGetProgramLogSize)>(lib, "nvrtcGetProgramLogSize")(program, &size);
    std::string log(size, '\0');
    Symbol<decltype(&nvrtcGetProgramLog)>(lib, "nvrtcGetProgramLog")(program, log.data());
    Die(log);
  }
  Symbol<decltype(&nvrtcGetPTXSize)>(lib, "nvrtcGetPTXSize")(program, &size);
  std::string ptx(size, '\0');
  Symbol<decltype(&nvrtcGetPTX)>(lib, "nvrtcGetPTX")(program, ptx.data());
  Symbol<decltype(&nvrtcDestroyProgram)>(lib, "nvrtcDestroyProgram")(&program);
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

namespace {
Program DecodeOrDie(std::string_view ptx, const DecodeOptions& decode) {
  auto program = DecodePtx(ptx, decode);
  if (!program) Die(program.error().Format());
  return *program;
}
}  // namespace

SimKit::SimKit(std::string_view ptx, const DecodeOptions& decode) : program_(DecodeOrDie(ptx, decode)) {
  if (auto status = memory_.LoadModule(program_); !status) Die(status.error().Format());
}

uint64_t SimKit::Allocate(std::string_view name, size_t bytes, const AllocationOptions& allocation) {
  auto address = memory_.Allocate(name, bytes, allocation);
  if (!address) Die(address.error().Format());
  return *address;
}

Machine SimKit::PrepareRaw(std::string_view kernel, core::Dim3 grid, core::Dim3 block, uint32_t dynamic_shared,
                           RunOptions run, const std::vector<std::byte>& parameters) {
  if (!run.print) run.print = [this](std::string_view text) { printed += text; };
  Launch launch{
      .kernel = kernel, .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared, .parameters = parameters};
  auto machine = Machine::Create(program_, memory_, launch, std::move(run));
  if (!machine) Die(machine.error().Format());
  return std::move(*machine);
}

bool SimKit::Finish(Machine& machine, core::Dim3 grid) {
  const auto outcome = machine.Run(0, grid.Count());
  counters = machine.counters();
  lines = machine.line_counters();
  if (const core::Fault* f = std::get_if<core::Fault>(&outcome)) {
    fault = *f;
    return false;
  }
  fault = {};
  return true;
}

}  // namespace warpwright::sim
