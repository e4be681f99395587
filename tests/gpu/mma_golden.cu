// Records what a GPU computes for tests/support/matrix_table.h. On a machine with an H100 or H200 and its toolkit:
//   nvcc -std=c++17 -O1 -I. tests/gpu/mma_golden.cu tests/support/{matrix_table,number_kinds}.cpp -lcuda -o mma_golden
//   ./mma_golden tests/golden/sim/matrix_products.txt all_words.bin
// The first file gets one line for each case: its name, and a hash of the results of each trial. The second, optional,
// gets all results as 32-bit words, in the order of the table: for looking into a difference. The kernels are PTX that
// the driver compiles, so a host compiler does as well as nvcc:
//   g++ -x c++ -std=c++17 -I. -I$CUDA/include tests/gpu/mma_golden.cu tests/support/{matrix_table,number_kinds}.cpp
//   -lcuda -o mma_golden
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/support/matrix_table.h"
#include "tests/support/number_kinds.h"

using namespace warpwright::sim;

namespace {

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: mma_golden HASHES [ALL]\n"), 2;
  std::FILE* hashes = std::fopen(argv[1], "w");
  std::FILE* all = argc > 2 ? std::fopen(argv[2], "wb") : nullptr;
  if (!hashes || (argc > 2 && !all)) return std::perror("mma_golden"), 2;
  Check(cuInit(0), "cuInit");
  CUdevice device;
  Check(cuDeviceGet(&device, 0), "cuDeviceGet");
  char name[256] = "";
  cuDeviceGetName(name, sizeof name, device);
  CUcontext context;
  Check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  int failed = 0;
  for (size_t i = 0; i < MatrixTable().size(); ++i) {
    const MatrixCase& c = MatrixTable()[i];
    char log[8192] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module;
    if (cuModuleLoadDataEx(&module, MatrixModule(i).c_str(), 2, keys, values) != CUDA_SUCCESS) {
      std::fprintf(stderr, "%s does not compile:\n%s\n", c.name.c_str(), log);
      ++failed;
      continue;
    }
    CUfunction kernel;
    Check(cuModuleGetFunction(&kernel, module, MatrixKernel(i).c_str()), "cuModuleGetFunction");
    const std::vector<uint32_t> inputs = MatrixInputs(c);
    std::vector<uint32_t> outputs(static_cast<size_t>(c.outputs) * 32 * kMatrixTrials);
    CUdeviceptr in, out;
    Check(cuMemAlloc(&in, inputs.size() * 4), "cuMemAlloc");
    Check(cuMemAlloc(&out, outputs.size() * 4), "cuMemAlloc");
    Check(cuMemcpyHtoD(in, inputs.data(), inputs.size() * 4), "cuMemcpyHtoD");
    void* arguments[] = {&out, &in};
    Check(cuLaunchKernel(kernel, kMatrixTrials, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
    Check(cuMemcpyDtoH(outputs.data(), out, outputs.size() * 4), c.name.c_str());
    std::fprintf(hashes, "%s|", c.name.c_str());
    const size_t words = static_cast<size_t>(c.outputs) * 32;
    for (size_t trial = 0; trial < kMatrixTrials; ++trial)
      std::fprintf(hashes, "%s%016llx", trial ? " " : "",
                   static_cast<unsigned long long>(HashWords(outputs.data() + trial * words, words)));
    std::fprintf(hashes, "\n");
    if (all) std::fwrite(outputs.data(), 4, outputs.size(), all);
    cuMemFree(in);
    cuMemFree(out);
    cuModuleUnload(module);
  }
  std::fclose(hashes);
  if (all) std::fclose(all);
  std::fprintf(stderr, "%zu cases on %s, %d failed\n", MatrixTable().size(), name, failed);
  return failed != 0;
}
