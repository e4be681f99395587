#include "source/inspect.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace warpwright {
namespace {

core::Inspection InspectText(const std::string& text) {
  auto inspected = source::InspectSource({"/tmp", "ww-inspect.cu", text});
  if (!inspected) throw std::runtime_error(inspected.error().Format());
  return *inspected;
}
const core::EntryInfo& Entry(const core::Inspection& inspection, const std::string& name) {
  for (const core::EntryInfo& entry : inspection.entries) {
    if (entry.name == name) return entry;
  }
  throw std::runtime_error("no entry " + name);
}

constexpr const char* kFile = R"(#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdint>
#define BLOCK 128
namespace ns {
__device__ float twice(float x) { return 2 * x; }
template <typename T, int N>
__global__ void transform(T* __restrict__ out, const float* in, int* count, float* inout, int64_t n, bool flag, size_t m) {
  int64_t i = blockIdx.x * N + threadIdx.x;
  if (i < n) {
    out[i] = T(twice(in[i]));
    inout[i] += 1;
    atomicAdd(count, 1);
  }
}
}
static void helper(float* out, const float* in, int* count, float* inout, int64_t n) {
  ns::transform<float, BLOCK><<<n, BLOCK>>>(out, in, count, inout, n, true, 0);
}
void launcher(float* out, const float* in, int* count, float* inout, int64_t n, cudaStream_t stream) { helper(out, in, count, inout, n); }
__global__ void bare(__half* h, const __nv_bfloat16* b, const uint8_t* u, const float4* v, double d, unsigned q) {
  h[0] = h[1];
}
int not_an_entry(int x) { return x; }
int main() { launcher(nullptr, nullptr, nullptr, nullptr, 1, 0); }
)";

TEST(Inspect, ListsLaunchersAndBareKernels) {
  const core::Inspection inspection = InspectText(kFile);
  std::vector<std::string> names;
  for (const core::EntryInfo& entry : inspection.entries) names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"ns::transform", "helper", "launcher", "bare"}));
  EXPECT_EQ(Entry(inspection, "bare").kind, core::EntryInfo::Kind::kKernel);
  const core::EntryInfo& launcher = Entry(inspection, "launcher");
  EXPECT_EQ(launcher.kind, core::EntryInfo::Kind::kLauncher);
  EXPECT_EQ(launcher.kernels, std::vector<std::string>{"ns::transform"});
  EXPECT_EQ(launcher.line, 20);
  EXPECT_EQ(launcher.refusal, "");
}

TEST(Inspect, TypesAndLikelyRoles) {
  const core::Inspection inspection = InspectText(kFile);
  ASSERT_EQ(inspection.kernels.size(), 2u);
  const core::KernelInfo& kernel = inspection.kernels[0];
  EXPECT_EQ(kernel.name, "ns::transform");
  EXPECT_EQ(kernel.template_parameters, (std::vector<std::string>{"T", "N"}));
  EXPECT_EQ(kernel.file, "ww-inspect.cu");
  const auto& p = kernel.parameters;
  ASSERT_EQ(p.size(), 7u);
  EXPECT_TRUE(p[0].is_restrict && p[0].is_pointer && !p[0].is_const);
  EXPECT_FALSE(p[0].dtype);
  EXPECT_EQ(p[1].dtype, core::DType::kF32);
  EXPECT_EQ(p[0].likely_role, core::Role::kOut);
  EXPECT_EQ(p[1].likely_role, core::Role::kIn);
  EXPECT_EQ(p[2].likely_role, core::Role::kInOut);
  EXPECT_EQ(p[3].likely_role, core::Role::kInOut);
  EXPECT_EQ(p[4].dtype, core::DType::kI64);
  EXPECT_EQ(p[5].dtype, core::DType::kBool);
  EXPECT_EQ(p[6].dtype, core::DType::kI64);
  const auto& launcher = Entry(inspection, "launcher").parameters;
  EXPECT_EQ(launcher[0].likely_role, core::Role::kOut);
  EXPECT_EQ(launcher[2].likely_role, core::Role::kInOut);
  EXPECT_EQ(launcher[2].dtype, core::DType::kI32);
  const auto& bare = Entry(inspection, "bare").parameters;
  const std::vector<std::optional<core::DType>> types = {core::DType::kF16, core::DType::kBF16, core::DType::kU8,
                                                         core::DType::kF32, core::DType::kF64,  core::DType::kU32};
  for (size_t i = 0; i < types.size(); ++i) EXPECT_EQ(bare[i].dtype, types[i]) << bare[i].type;
}

TEST(Inspect, AnOutputThatIsWorkedOnInPlaceIsAnOutput) {
  const core::Inspection inspection = InspectText(R"(
__global__ void softmax(float* out, const float* inp, int n) {
  float* row = out + blockIdx.x * n;
  float sum = 0;
  for (int j = 0; j < n; ++j) { row[j] = expf(inp[j]); sum += row[j]; }
  for (int j = 0; j < n; ++j) row[j] /= sum;
}
__global__ void in_place(float* x) { float* p = x + 1; *p = *p * 2; }
__global__ void histogram(int* bins, const int* v) { atomicAdd(&bins[v[threadIdx.x]], 1); }
)");
  EXPECT_EQ(inspection.kernels[0].parameters[0].likely_role, core::Role::kOut);
  EXPECT_EQ(inspection.kernels[1].parameters[0].likely_role, core::Role::kInOut);
  EXPECT_EQ(inspection.kernels[2].parameters[0].likely_role, core::Role::kInOut);
}

TEST(Inspect, RefusalsNameTheLine) {
  const core::Inspection inspection = InspectText(
      "#include <cublas_v2.h>\n__global__ void k(float* x) { *x = 1; }\nvoid good(float* x) { k<<<1, 1>>>(x); }\n"
      "void bad(float* x, cublasHandle_t h) {\n  k<<<1, 1>>>(x);\n}\n");
  EXPECT_EQ(Entry(inspection, "good").refusal, "");
  EXPECT_NE(Entry(inspection, "bad").refusal.find("cuBLAS"), std::string::npos);
  EXPECT_EQ(Entry(inspection, "bad").refusal_line, 4);
}

TEST(Inspect, WarnsOfHeadersThatAreNotThere) {
  const core::Inspection inspection = InspectText(
      "#include <vector>\n#include <cuda_fp16.h>\n#include <torch/extension.h>\n#include \"absent.cuh\"\n#include "
      "SOME_MACRO\n"
      "__global__ void k(std::map<int, int>* x) {}\n");
  EXPECT_EQ(inspection.warnings,
            (std::vector<std::string>{"ww-inspect.cu:3: the header torch/extension.h was not found and is left out",
                                      "ww-inspect.cu:4: the header absent.cuh was not found and is left out",
                                      "ww-inspect.cu:5: an include by macro is left out"}));
}

TEST(Inspect, RepositoryHeadersCount) {
  auto folder = base::TemporaryDirectory::Create("ww-inspect");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(base::WriteFileAtomically(
      folder->path() / "include/k.cuh",
      "#pragma once\n__device__ inline float f(float x) { return x; }\n"
      "__global__ void k(float* x) { *x = f(*x); }\n__device__ inline float unused() { return 0; }\n"));
  const core::SourceRef source{folder->path().string(), "src/k.cu",
                               "#include \"../include/k.cuh\"\nvoid run(float* x) { k<<<1, 1>>>(x); }\n"};
  const auto before = source::InspectSource(source);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->headers, std::vector<std::string>{"include/k.cuh"});
  ASSERT_EQ(before->entries.size(), 1u);
  EXPECT_EQ(before->kernels.at(0).file, "include/k.cuh");
  const auto hash_with = [&](const std::string& header) {
    EXPECT_TRUE(base::WriteFileAtomically(folder->path() / "include/k.cuh", header));
    return source::InspectSource(source)->entries.at(0).slice_hash;
  };
  const std::string same =
      "#pragma once\n// comment\n__device__ inline float f(float x) {\n  return x;\n}\n__global__ void k(float* x) { "
      "*x = f(*x); }\n"
      "__device__ inline float unused() { return 1; }\n";
  EXPECT_EQ(hash_with(same), before->entries[0].slice_hash) << "comments, layout and unused functions mean nothing";
  std::string changed = same;
  changed.replace(changed.find("return x;"), 9, "return -x;");
  EXPECT_NE(hash_with(changed), before->entries[0].slice_hash);
}

// Edits that may change the meaning change the hash, others do not.
TEST(Inspect, SliceHashFollowsMeaning) {
  const auto hash = [](const std::string& text) { return Entry(InspectText(text), "launcher").slice_hash; };
  const std::string base = kFile;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    const size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("not there: " + from);
    return hash(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(with("int not_an_entry(int x) { return x; }", "int not_an_entry(int x) { return x + 1; }"), hash(base));
  EXPECT_EQ(with("int64_t i = ", "int64_t   i   =  /* index */ "), hash(base));
  EXPECT_EQ(with("h[0] = h[1];", "h[0] = h[2];"), hash(base)) << "another kernel";
  EXPECT_NE(with("#define BLOCK 128", "#define BLOCK 256"), hash(base));
  EXPECT_NE(with("return 2 * x;", "return 3 * x;"), hash(base));
  EXPECT_NE(with("inout[i] += 1;", "inout[i] += 2;"), hash(base));
  EXPECT_NE(with("<<<n, BLOCK>>>", "<<<n + 1, BLOCK>>>"), hash(base));
  EXPECT_NE(with("#define BLOCK", "#undef X\n#define BLOCK"), hash(base)) << "directives may decide what exists";
}

TEST(Inspect, SaysWhichParametersTheManifestCannotGive) {
  const core::Inspection inspection = InspectText(
      "struct Params { int n; };\n__global__ void k(float* x, int n) { x[n] = 1; }\n"
      "void by_value(float* x,\n              Params p) { k<<<1, 1>>>(x, p.n); }\n"
      "void by_default(float* x, Params p = {}) { k<<<1, 1>>>(x, p.n); }\n");
  const core::EntryInfo& entry = Entry(inspection, "by_value");
  EXPECT_TRUE(entry.refusal.starts_with("parameter 2 of by_value is a structure by value (Params p)")) << entry.refusal;
  EXPECT_EQ(entry.refusal_line, 4);
  EXPECT_EQ(Entry(inspection, "by_default").refusal, "");
}

}  // namespace
}  // namespace warpwright
