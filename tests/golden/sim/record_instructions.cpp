// Records what a real GPU computes for tests/support/instruction_table.h, one line per instruction:
//   text | hash of all results | the first results
// Run on a machine with an NVIDIA driver: record_instructions > instructions.txt. Needs nothing but libcuda.so.1.
#include <dlfcn.h>

#include <cuda.h>
#include <cstdio>
#include <cstdlib>

#include "tests/support/instruction_table.h"

using namespace warpwright::sim;

namespace {

void* library;
template <typename F>
F Get(const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) std::exit((std::fprintf(stderr, "libcuda lacks %s\n", name), 2));
  return reinterpret_cast<F>(symbol);
}
void Check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) std::exit((std::fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result)), 2));
}

}  // namespace

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return std::fprintf(stderr, "no libcuda.so.1\n"), 2;
  Check(Get<decltype(&cuInit)>("cuInit")(0), "cuInit");
  CUdevice device;
  Check(Get<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, 0), "cuDeviceGet");
  CUcontext context;
  Check(Get<CUresult (*)(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&context, device), "context");
  Check(Get<CUresult (*)(CUcontext)>("cuCtxSetCurrent")(context), "current");
  const auto load = Get<CUresult (*)(CUmodule*, const void*, unsigned, CUjit_option*, void**)>("cuModuleLoadDataEx");
  const auto launch = Get<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  const auto to_device = Get<CUresult (*)(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD_v2");
  const auto to_host = Get<CUresult (*)(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2");
  const auto allocate = Get<CUresult (*)(CUdeviceptr*, size_t)>("cuMemAlloc_v2");
  CUdeviceptr out, in;
  Check(allocate(&out, kHashedResults * 8), "alloc");
  Check(allocate(&in, kHashedResults * 24), "alloc");
  const auto& table = InstructionTable();
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string ptx = InstructionModule(i, i + 1);
    char log[4096] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes numbers so
    void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
    CUmodule module;
    if (load(&module, ptx.c_str(), 2, keys, values) != CUDA_SUCCESS) {
      std::fprintf(stderr, "%s\n  %s\n", table[i].text.c_str(), log);
      continue;
    }
    CUfunction function;
    Check(Get<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, InstructionKernel(i).c_str()),
          "function");
    const auto inputs = InstructionInputs(table[i].inputs);
    Check(to_device(in, inputs.data(), inputs.size() * sizeof(Triple)), "copy");
    void* arguments[] = {&out, &in};
    Check(launch(function, kHashedResults / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), "launch");
    std::vector<uint64_t> results(kHashedResults);
    Check(to_host(results.data(), out, results.size() * 8), "copy back");
    std::printf("%s|%016llx|", table[i].text.c_str(),
                static_cast<unsigned long long>(HashResults(results.data(), results.size())));
    const int explicit_results = table[i].tolerance != 0 ? kExplicitResults : kExplicitResults / 4;
    for (int k = 0; k < explicit_results; ++k)
      std::printf("%s%llx", k ? " " : "", static_cast<unsigned long long>(results[static_cast<size_t>(k)]));
    std::printf("\n");
    if (std::getenv("RECORD_ALL")) {  // for looking into a difference
      std::fprintf(stderr, "#%s|", table[i].text.c_str());
      for (uint64_t r : results) std::fprintf(stderr, " %llx", static_cast<unsigned long long>(r));
      std::fprintf(stderr, "\n");
    }
    Get<decltype(&cuModuleUnload)>("cuModuleUnload")(module);
  }
  return 0;
}
