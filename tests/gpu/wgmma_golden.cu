// Records what a GPU computes for tests/support/warpgroup_table.h. On a machine with an H100 or H200 and its toolkit:
//   nvcc -std=c++17 -O1 -I. tests/gpu/wgmma_golden.cu tests/support/{warpgroup_table,number_kinds}.cpp -lcuda
//   -o wgmma_golden && ./wgmma_golden tests/golden/sim/warpgroup_products.txt all_words.bin
// The first file gets one line for each case: its name, and a hash of the results of each trial. The second, optional,
// gets the results of the cases with at most 96 columns as 32-bit words, in the order of the table: for looking into a
// difference. A case that does not run has no hashes.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/number_kinds.h"
#include "tests/support/warpgroup_table.h"

using namespace warpwright::sim;

namespace {

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
  std::exit(2);
}

std::vector<uint32_t> RunOnGpu(size_t index) {
  const WarpgroupCase& c = WarpgroupTable()[index];
  char log[8192] = "";
  CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module;
  if (cuModuleLoadDataEx(&module, WarpgroupModule(index).c_str(), 2, keys, values) != CUDA_SUCCESS) {
    std::fprintf(stderr, "%s does not compile:\n%s\n", c.name.c_str(), log);
    return {};
  }
  CUfunction kernel;
  Check(cuModuleGetFunction(&kernel, module, WarpgroupKernel(index).c_str()), "cuModuleGetFunction");
  const std::vector<uint32_t> inputs = WarpgroupInputs(c);
  std::vector<uint32_t> outputs(static_cast<size_t>(c.sums()) * kWarpgroupThreads * kWarpgroupTrials);
  CUdeviceptr in, out;
  Check(cuMemAlloc(&in, inputs.size() * 4), "cuMemAlloc");
  Check(cuMemAlloc(&out, outputs.size() * 4), "cuMemAlloc");
  Check(cuMemcpyHtoD(in, inputs.data(), inputs.size() * 4), "cuMemcpyHtoD");
  void* arguments[] = {&out, &in};
  Check(cuLaunchKernel(kernel, kWarpgroupTrials, 1, 1, kWarpgroupThreads, 1, 1, 0, nullptr, arguments, nullptr),
        "cuLaunchKernel");
  Check(cuMemcpyDtoH(outputs.data(), out, outputs.size() * 4), c.name.c_str());
  cuMemFree(in);
  cuMemFree(out);
  cuModuleUnload(module);
  return outputs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: wgmma_golden HASHES [WORDS]\n"), 2;
  std::FILE* hashes = std::fopen(argv[1], "w");
  std::FILE* all = argc > 2 ? std::fopen(argv[2], "wb") : nullptr;
  if (!hashes || (argc > 2 && !all)) return std::perror("wgmma_golden"), 2;
  Check(cuInit(0), "cuInit");
  CUdevice device;
  Check(cuDeviceGet(&device, 0), "cuDeviceGet");
  char name[256] = "";
  cuDeviceGetName(name, sizeof name, device);
  CUcontext context;
  Check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  int failed = 0;
  for (size_t i = 0; i < WarpgroupTable().size(); ++i) {
    const WarpgroupCase& c = WarpgroupTable()[i];
    const std::vector<uint32_t> outputs = RunOnGpu(i);
    failed += outputs.empty();
    std::fprintf(hashes, "%s|", c.name.c_str());
    const size_t words = static_cast<size_t>(c.sums()) * kWarpgroupThreads;
    for (size_t trial = 0; trial * words < outputs.size(); ++trial)
      std::fprintf(hashes, "%s%016llx", trial ? " " : "",
                   static_cast<unsigned long long>(HashWords(outputs.data() + trial * words, words)));
    std::fprintf(hashes, "\n");
    if (all && c.n <= 96) std::fwrite(outputs.data(), 4, outputs.size(), all);
  }
  std::fclose(hashes);
  if (all) std::fclose(all);
  std::fprintf(stderr, "%zu cases on %s, %d failed\n", WarpgroupTable().size(), name, failed);
  return failed != 0;
}
