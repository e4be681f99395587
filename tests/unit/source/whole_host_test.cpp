#include "source/whole_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "compile/nvcc.h"
#include "tests/unit/source/support.h"

namespace warpwright {
namespace {

class WholeHost : public testing::Test {
 protected:
  void SetUp() override {
    if (compile::FindNvcc(TheCompiler().toolkit()).empty()) GTEST_SKIP() << "nvcc is not installed";
    spec.entry = "run";
    spec.args = {{"out", core::BufferArgument{.role = core::Role::kOut}},
                 {"in", core::BufferArgument{}},
                 {"n", core::ScalarArgument{}}};
  }
  source::LaunchComparison Compare(const std::string& text) {
    const core::SourceRef source{"/tmp", "a.cu", text};
    const auto sliced = source::Slice(source, spec.entry);
    EXPECT_TRUE(sliced && std::holds_alternative<source::Slices>(*sliced));
    const auto& slices = std::get<source::Slices>(*sliced);
    source::RecordRequest request;
    request.spec = &spec;
    request.scalars = {{"n", int64_t{1000}}};
    request.buffers = {{"out", 4000}, {"in", 4000}};
    request.chip = TestChip();
    request.cache = CompiledCache();
    const auto recorded = source::RecordPlan(slices, request);
    EXPECT_TRUE(recorded && std::holds_alternative<source::Recorded>(*recorded))
        << std::get<core::Refused>(*recorded).reason;
    const core::LaunchPlan& plan = std::get<source::Recorded>(*recorded).plan;
    const auto compiled = TheCompiler().Compile(ProgramOf(slices, plan));
    EXPECT_TRUE(compiled && std::holds_alternative<core::CompiledModule>(*compiled));
    const auto whole =
        compile::CompileWithNvcc(TheCompiler().toolkit(), source, std::get<core::CompiledModule>(*compiled));
    EXPECT_TRUE(whole && std::holds_alternative<compile::WholeBuild>(*whole))
        << std::get<core::CompileFailed>(*whole).log;
    const auto& built = std::get<compile::WholeBuild>(*whole);
    const auto compared = source::CompareLaunches(
        slices, request, {built.host_files, built.host_main, TheCompiler().toolkit().include_folders, built.module},
        plan);
    EXPECT_TRUE(compared) << compared.error().Format();
    return *compared;
  }
  static std::string WhyNot(const source::LaunchComparison& compared) {
    return std::visit(Overload{[](const source::SameLaunches&) { return std::string("the same"); },
                               [](const source::OtherLaunches& other) { return other.what; },
                               [](const source::NotCompared& unknown) { return "unknown: " + unknown.why; }},
                      compared);
  }
  core::KernelSpec spec;
};

// What a launcher can do: templates, unnamed namespaces, by-value structures with pointers, symbols, scratch memory,
// streams, events, queries, error checks, and launches of several kinds.
TEST_F(WholeHost, LaunchesWhatItsSliceDoes) {
  EXPECT_EQ(WhyNot(Compare(R"(#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <vector>
#define CHECK(call) do { const cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
namespace {
struct View { const float* data; int n; float factor; };
template <class T, int kTile> __global__ void scale(T* out, View in) {
  const int i = blockIdx.x * kTile + threadIdx.x;
  if (i < in.n) out[i] = in.data[i] * in.factor;
}
__constant__ float table[4];
__global__ void add(float* out, const float* scratch, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += scratch[i & 3] + table[i & 3];
}
}  // namespace
__global__ void __launch_bounds__(64) clear(float4* x) { x[threadIdx.x] = make_float4(0, 0, 0, 0); }
void run(float* out, const float* in, int n, cudaStream_t stream) {
  float* scratch = nullptr;
  const std::vector<float> values = {1, 2, 3, 4};
  CHECK(cudaMallocAsync(&scratch, 4 * sizeof(float), stream));
  CHECK(cudaMemsetAsync(scratch, 0, 4 * sizeof(float), stream));
  CHECK(cudaMemcpyToSymbolAsync(table, values.data(), sizeof(table), 0, cudaMemcpyHostToDevice, stream));
  int device = 0, count = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  count += properties.multiProcessorCount * properties.warpSize / 32 + properties.maxGridSize[1] / 65535;
  count += properties.maxBlocksPerMultiProcessor + static_cast<int>(properties.reservedSharedMemPerBlock >> 10);
  CHECK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  scale<float, 128><<<count, dim3(128), 0, stream>>>(out, View{in, n, 0.5f});
  add<<<1, 256, 64 * 1024, stream>>>(out, scratch, n);
  float4* first = reinterpret_cast<float4*>(out);
  void* arguments[] = {&first};
  CHECK(cudaLaunchKernel(clear, dim3(1), dim3(2), arguments, 0, stream));
  CHECK(cudaGetLastError());
  CHECK(cudaFreeAsync(scratch, stream));
}
)")),
            "the same");
}

// __CUDACC_VER_BUILD__ is nvcc's alone.
TEST_F(WholeHost, SaysWhereItLaunchesOtherwise) {
  const struct {
    const char *sliced, *built, *what;
  } rows[] = {
      {"k<<<4, 256>>>(out, in, n);", "k<<<8, 256>>>(out, in, n);",
       "operation 1 has a grid of 8 x 1 x 1, not 4 x 1 x 1"},
      {"k<<<4, 256>>>(out, in, n);", "k<<<4, 256>>>(out, in, n - 1);", "operation 1 has another argument 3"},
      {"k<<<4, 256>>>(out, in, n);", "k<<<4, 256>>>(out + 1, in, n);", "operation 1 has another argument 1"},
      {"k<<<4, 256>>>(out, in, n);", "j<<<4, 256>>>(out, in, n);",
       "operation 1 is of j(float*, float const*, int), not of k"},
      {"k<<<4, 256>>>(out, in, n);", "k<<<4, 256>>>(out, in, n); k<<<4, 256>>>(out, in, n);",
       "it has 2 operations, not 1"},
      {"k<<<4, 256>>>(out, in, n);", "k<<<4, 256>>>(out, in, n); abort();", "the launcher aborts"},
      {"k<<<4, 256>>>(out, in, n);", "cudaFuncAttributes a; cudaFuncGetAttributes(&a, k); k<<<4, 256>>>(out, in, n);",
       "unknown: the file uses cudaFuncGetAttributes"},
  };
  for (const auto& row : rows) {
    const std::string text = std::string(
                                 "#include <cstdlib>\n"
                                 "__global__ void k(float* out, const float* in, int n) { out[0] = in[0] + n; }\n"
                                 "__global__ void j(float* out, const float* in, int n) { out[0] = in[0] - n; }\n"
                                 "void run(float* out, const float* in, int n) {\n#ifdef __CUDACC_VER_BUILD__\n") +
                             row.built + "\n#else\n" + row.sliced + "\n#endif\n}\n";
    const std::string what = WhyNot(Compare(text));
    EXPECT_EQ(what.substr(0, std::string_view(row.what).size()), row.what) << what;
  }
}

}  // namespace
}  // namespace warpwright
