// Rewritten kernels against their originals on the simulated device, at sizes that leave tails everywhere.
#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;
using rewrite_test::ApplyToExample;
using rewrite_test::Comparison;
using rewrite_test::Difference;
using rewrite_test::ExampleSpec;
using rewrite_test::Parameters;
using rewrite_test::ReadExample;
using rewrite_test::Spec;

struct ExampleCase {
  const char* name;
  const char* transform;
  Parameters parameters;
  Comparison comparison;
};

TEST(Execution, ExamplesGiveTheSameResult) {
  const ExampleCase rows[] = {
      {"gelu", "vectorize_elementwise", {{"width", "4"}}, {}},
      {"gelu", "vectorize_elementwise", {{"width", "2"}}, {0, 4}},
      {"gelu_half", "vectorize_elementwise", {{"width", "8"}}, {}},
      {"gelu_half", "vectorize_elementwise", {{"width", "4"}}, {0, 2}},
      {"residual", "vectorize_elementwise", {}, {}},
      {"residual_half", "vectorize_elementwise", {{"width", "8"}}, {}},
      {"transpose", "transpose_tile", {}, {}},
      {"histogram", "histogram_privatize", {}, {}},
      {"softmax", "unroll_accumulators", {{"factor", "4"}}, {1e-6, 0}},
      {"row_sum", "unroll_accumulators", {{"factor", "8"}}, {1e-5, 0}},
      {"rmsnorm_bf16", "unroll_accumulators", {{"factor", "2"}}, {1e-2, 0}},
      {"attention_scores", "unroll_accumulators", {}, {1e-5, 0}},
      {"matmul", "launch_retune", {{"block_size", "128"}, {"launch_bounds", "on"}}, {}},
      {"layernorm", "launch_retune", {{"block_size", "64"}}, {}},
      {"rmsnorm", "launch_retune", {{"block_size", "512"}}, {}},
      {"cross_entropy", "restrict_readonly", {}, {}},
      {"argmax", "restrict_readonly", {}, {}},
  };
  for (const ExampleCase& row : rows) {
    const core::KernelSpec spec = ExampleSpec(row.name);
    const std::string rewritten = ApplyToExample(row.transform, spec.file, spec.entry, row.parameters);
    ASSERT_FALSE(rewritten.starts_with("REFUSED") || rewritten.starts_with("ERROR")) << row.name << ": " << rewritten;
    EXPECT_EQ(Difference(spec, "odd", ReadExample(spec.file), rewritten, row.comparison), "")
        << row.name << " " << row.transform << ":\n"
        << rewritten;
  }
}

// Each transformation accepts the output of another one.
TEST(Execution, TransformationsFollowEachOther) {
  using Step = std::pair<const char*, Parameters>;
  const std::pair<const char*, std::vector<Step>> rows[] = {
      {"gelu",
       {{"restrict_readonly", {}},
        {"vectorize_elementwise", {}},
        {"launch_retune", {{"block_size", "256"}, {"launch_bounds", "on"}}}}},
      {"residual",
       {{"launch_retune", {{"block_size", "128"}}},
        {"vectorize_elementwise", {{"width", "2"}}},
        {"restrict_readonly", {}}}},
      {"transpose", {{"transpose_tile", {}}, {"restrict_readonly", {}}}},
      {"histogram", {{"histogram_privatize", {}}, {"launch_retune", {{"block_size", "512"}}}}},
      {"row_sum", {{"unroll_accumulators", {}}, {"launch_retune", {{"block_size", "64"}}}, {"restrict_readonly", {}}}},
  };
  for (const auto& [name, steps] : rows) {
    const core::KernelSpec spec = ExampleSpec(name);
    std::string text = ReadExample(spec.file);
    for (const auto& [transform, parameters] : steps) {
      const std::string next = rewrite_test::ApplyTo(transform, text, spec.file, spec.entry, parameters);
      ASSERT_FALSE(next.starts_with("REFUSED") || next.starts_with("ERROR"))
          << name << " " << transform << ": " << next << "\n"
          << text;
      text = next;
    }
    EXPECT_EQ(Difference(spec, "odd", ReadExample(spec.file), text, {1e-5, 0}), "") << text;
  }
}

TEST(Execution, VectorsWithTailsOffsetsAndBroadcasts) {
  const std::string source =
      "#include <cuda_bf16.h>\n"
      "#define BLOCK 96\n"
      "__global__ void k(float* out, const __nv_bfloat16* a, const float* bias, const int* skip, int n, int C) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  const int column = i % C;\n"
      "  if (i >= n) return;\n"
      "  float v = __bfloat162float(a[i]) + bias[column];\n"
      "  if (v < 0) {\n"
      "    v *= 0.1f;\n"
      "  }\n"
      "  out[i] = skip[i] > 2 ? v : i * 0.5f;\n"
      "}\n"
      "void run(float* out, const __nv_bfloat16* a, const float* bias, const int* skip, int n, int C) {\n"
      "  k<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(out, a, bias, skip, n, C);\n"
      "}\n";
  const core::KernelSpec spec = Spec(
      "{out: {buffer: f32, shape: [n], role: out}, a: {buffer: bf16, shape: [n], role: in}, bias: {buffer: f32, shape: "
      "[C], role: in}, "
      "skip: {buffer: i32, shape: [n], role: in, init: {integers: [0, 5]}}, n: {scalar: i32}, C: {scalar: i32}}",
      "[{name: odd, n: 1003, C: 7}, {name: one, n: 1, C: 3}, {name: even, n: 768, C: 16}]");
  const std::string rewritten = Apply("vectorize_elementwise", source);
  for (const char* name : {"odd", "one", "even"})
    EXPECT_EQ(Difference(spec, name, source, rewritten), "") << name << ":\n" << rewritten;
  EXPECT_EQ(Difference(spec, "odd", source, rewritten, {0, 4}), "") << rewritten;
}

TEST(Execution, GridStrideInPlace) {
  const std::string source =
      "__global__ void k(int* x, int n) {\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {\n"
      "    if (x[i] % 3 == 0) continue;\n"
      "    x[i] = x[i] * 2 + i;\n"
      "  }\n"
      "}\n"
      "void run(int* x, int n) { k<<<3, 64>>>(x, n); }\n";
  // A store made conditional by `continue` must not become a store of what the lane did not write.
  EXPECT_TRUE(Apply("vectorize_elementwise", source).starts_with("REFUSED")) << Apply("vectorize_elementwise", source);
  std::string always = source;
  always.erase(always.find("    if (x[i] %"), std::string("    if (x[i] % 3 == 0) continue;\n").size());
  const core::KernelSpec spec =
      Spec("{x: {buffer: i32, shape: [n], role: inout}, n: {scalar: i32}}", "[{name: odd, n: 1601}]");
  const std::string rewritten = Apply("vectorize_elementwise", always);
  EXPECT_EQ(Difference(spec, "odd", always, rewritten), "") << rewritten;
}

TEST(Execution, HistogramsOfFewAndOfTooManyBins) {
  const std::string source =
      "#include <cuda_runtime.h>\n"
      "__global__ void k(int* h, const int* a, int n, int bins) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) {\n"
      "    int b = a[i];\n"
      "    if (b < bins) atomicAdd(&h[b], 1);\n"
      "  }\n"
      "}\n"
      "void run(int* h, const int* a, int n, int bins) {\n"
      "  cudaMemset(h, 0, bins * sizeof(int));\n"
      "  k<<<(n + 127) / 128, 128>>>(h, a, n, bins);\n"
      "}\n";
  const core::KernelSpec spec = Spec(
      "{h: {buffer: i32, shape: [bins], role: out}, a: {buffer: i32, shape: [n], role: in, init: {integers: [0, "
      "bins]}}, n: {scalar: i32}, bins: {scalar: i32}}",
      "[{name: few, n: 5003, bins: 37}, {name: many, n: 4099, bins: 20000}]");
  const std::string rewritten = Apply("histogram_privatize", source);
  for (const char* name : {"few", "many"})
    EXPECT_EQ(Difference(spec, name, source, rewritten), "") << name << ":\n" << rewritten;
}

TEST(Execution, TransposesWithExchangedAxes) {
  const std::string source =
      "__global__ void k(double* out, const double* in, int R, int C) {\n"
      "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int c = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (r >= R || c >= C) return;\n"
      "  out[(size_t)c * R + r] = 3.0 * in[(size_t)r * C + c];\n"
      "}\n"
      "void run(double* out, const double* in, int R, int C) {\n"
      "  dim3 grid((R + 7) / 8, (C + 7) / 8);\n"
      "  k<<<grid, dim3(8, 8)>>>(out, in, R, C);\n"
      "}\n";
  const core::KernelSpec spec = Spec(
      "{out: {buffer: f64, shape: [C, R], role: out}, in: {buffer: f64, shape: [R, C], role: in}, R: {scalar: i32}, C: "
      "{scalar: i32}}",
      "[{name: odd, R: 45, C: 71}, {name: row, R: 1, C: 100}]");
  const std::string rewritten = Apply("transpose_tile", source);
  for (const char* name : {"odd", "row"})
    EXPECT_EQ(Difference(spec, name, source, rewritten), "") << name << ":\n" << rewritten;
}

TEST(Execution, AccumulatorsOfThreadStridedLoopsAndShortRows) {
  const std::string source =
      "__global__ void k(float* out, const float* in, int C) {\n"
      "  float sum = 1.0f, most = -1e30f;\n"
      "  for (int c = threadIdx.x; c < C; c += blockDim.x) {\n"
      "    const float v = in[blockIdx.x * C + c];\n"
      "    if (v < -1.5f) continue;\n"
      "    sum += v;\n"
      "    most = v > most ? v : most;\n"
      "  }\n"
      "  out[blockIdx.x * 64 + threadIdx.x] = sum + most;\n"
      "}\n"
      "void run(float* out, const float* in, int N, int C) { k<<<N, 64>>>(out, in, C); }\n";
  const core::KernelSpec spec = Spec(
      "{out: {buffer: f32, shape: [N, 64], role: out}, in: {buffer: f32, shape: [N, C], role: in}, N: {scalar: i32}, "
      "C: {scalar: i32}}",
      "[{name: long, N: 3, C: 1000}, {name: short, N: 2, C: 65}]");
  for (const char* factor : {"2", "8"}) {
    const std::string rewritten = Apply("unroll_accumulators", source, "run", {{"factor", factor}});
    for (const char* name : {"long", "short"})
      EXPECT_EQ(Difference(spec, name, source, rewritten, {1e-5, 0}), "") << name << ":\n" << rewritten;
  }
}

}  // namespace
}  // namespace warpwright
