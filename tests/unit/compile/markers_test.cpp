// Lifting builds: which functions stay calls, in which way of writing, and that nothing else changes.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compile/compiler.h"

namespace warpwright::compile {
namespace {

struct Case {
  std::string name, source;
  std::set<std::string> calls;
  std::map<std::string, std::string> headers;
};

// As the header that stands in front of every slice does it.
constexpr const char* kStd = "namespace std { using ::exp; using ::pow; }\n";

std::vector<Case> Cases() {
  auto kernel = [](const std::string& expression) {
    return "__global__ void k(float* x, double* y, int n) { float a = x[0]; double d = y[0]; (void)d; x[1] = " +
           expression + "; }\n";
  };
  return {
      {"plain and qualified names",
       kStd + kernel("expf(a) + exp(a) + ::exp(a) + std::exp(a) + ::expf(a)"),
       {"expf"},
       {}},
      {"double", kStd + kernel("exp(d) + std::pow(d, 2.0) + log(d)"), {"exp", "pow", "log"}, {}},
      {"overloads by argument", kernel("pow(a, 2) + pow(a, a) + pow(d, n)"), {"powf", "pow"}, {}},
      {"the usual names",
       kernel("tanhf(a) + erff(a) + logf(a) + log2f(a) + log10f(a) + log1pf(a) + expm1f(a) + exp2f(a)"),
       {"tanhf", "erff", "logf", "log2f", "log10f", "log1pf", "expm1f", "exp2f"},
       {}},
      {"trigonometry",
       kernel("sinf(a) + cosf(a) + tanf(a) + atan2f(a, 2.f) + sinhf(a) + acosf(a)"),
       {"sinf", "cosf", "tanf", "atan2f", "sinhf", "acosf"},
       {}},
      {"others",
       kernel("cbrtf(a) + hypotf(a, a) + fmodf(a, 3.f) + lgammaf(a) + normcdff(a) + erfinvf(a) + roundf(a)"),
       {"cbrtf", "hypotf", "fmodf", "lgammaf", "normcdff", "erfinvf", "roundf"},
       {}},
      {"sincos", "__global__ void k(float* x) { sincosf(x[0], x + 1, x + 2); }\n", {"sinf", "cosf"}, {}},
      {"instructions need none",
       kernel(
           "sqrtf(a) + rsqrtf(a) + fabsf(a) + fmaxf(a, 0.f) + floorf(a) + rintf(a) + __expf(a) + __logf(a) + a / 3.f"),
       {},
       {}},
      {"using declarations",
       std::string(kStd) + "__device__ float f(float v) { using std::exp; return exp(v); }\n" + kernel("f(a)"),
       {"expf"},
       {}},
      {"own function and member of that name",
       "namespace mine { __device__ float tanh(float v) { return v / (1 + fabsf(v)); } }\n"
       "struct Op { float log; __device__ float exp(float v) const { return log * v; } };\n" +
           kernel("mine::tanh(a) + Op{2.f}.exp(a)"),
       {},
       {}},
      {"as a template argument",
       "template <float (*F)(float)> __device__ float apply(float v) { return F(v); }\n" + kernel("apply<tanhf>(a)"),
       {"tanhf"},
       {}},
      {"as a value",
       "template <class F> __device__ float apply(F f, float v) { return f(v); }\n" + kernel("apply(expf, a)"),
       {"expf"},
       {}},
      {"half headers",
       "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + kernel("__half2float(hexp(__float2half(a))) + expf(a)"),
       {"expf"},
       {}},
      {"cooperative groups",
       "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n" +
           kernel("cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), expf(a), cg::plus<float>())"),
       {"expf"},
       {}},
      {"libcu++",
       "#include <cuda/std/cmath>\n" + kernel("cuda::std::exp(a) + cuda::std::tanh(a)"),
       {"expf", "tanhf"},
       {}},
      {"a header of the repository",
       "#include \"act.h\"\n" + kernel("gelu(a)"),
       {"erff"},
       {{"act.h",
         "#pragma once\n#include <cuda_fp16.h>\n__device__ inline float gelu(float v) { return 0.5f * v * (1 + erff(v "
         "* 0.7071f)); }\n"}}},
      {"a macro of that name", "#define my_exp(v) exp(v)\n" + kernel("my_exp(a)"), {"expf"}, {}},
  };
}

std::set<std::string> CallsOf(const std::string& ptx) {
  std::set<std::string> calls;
  const std::string prefix = "ww_call_";
  for (size_t at = 0; (at = ptx.find(prefix, at)) != std::string::npos;) {
    at += prefix.size();
    const size_t end = ptx.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", at);
    calls.insert(ptx.substr(at, end - at));
  }
  return calls;
}

TEST(Markers, StandForTheLibrarysFunctions) {
  const Compiler compiler = std::move(*Compiler::Create({}));
  const std::vector<Case> cases = Cases();
  for (const Case& c : cases) {
    for (const bool markers : {false, true}) {
      if (!markers && &c != &cases.front()) continue;  // an ordinary build has none, whatever is written
      CompileRequest request{"kernel.cu", c.source, c.headers, {"k"}, "sm_90"};
      request.build = markers ? Build::kMarkers : Build::kUsual;
      const auto outcome = compiler.Compile(request);
      ASSERT_TRUE(outcome) << outcome.error().Format();
      if (const auto* failed = std::get_if<core::CompileFailed>(&*outcome)) {
        ADD_FAILURE() << c.name << (markers ? " with markers: " : ": ") << failed->log;
        continue;
      }
      const auto& module = std::get<core::CompiledModule>(*outcome);
      EXPECT_EQ(CallsOf(module.ptx), markers ? c.calls : std::set<std::string>()) << c.name;
      EXPECT_EQ(module.cubin.empty(), markers);
      ASSERT_EQ(module.kernels.size(), 1u);
      EXPECT_NE(module.ptx.find(".entry " + module.kernels[0].symbol), std::string::npos);
    }
  }
}

TEST(Markers, KeepTheUsersLines) {
  const Compiler compiler = std::move(*Compiler::Create({}));
  CompileRequest request{
      "src/kernel.cu", "\n\n__global__ void k(float* x) {\n  x[0] = expf(x[1]);\n}\n", {}, {"k"}, "sm_90"};
  request.build = Build::kMarkers;
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome));
  const std::string& ptx = std::get<core::CompiledModule>(*outcome).ptx;
  EXPECT_NE(ptx.find("\"src/kernel.cu\""), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(" 4 "), std::string::npos);
  request.text = "__global__ void k(float* x) {\n  x[0] = expf(y);\n}\n";
  const auto failed = compiler.Compile(request);
  ASSERT_TRUE(failed);
  ASSERT_TRUE(std::holds_alternative<core::CompileFailed>(*failed));
  EXPECT_NE(std::get<core::CompileFailed>(*failed).log.find("src/kernel.cu(2)"), std::string::npos);
}

TEST(Markers, OnlyTheSimulatorsBuildIsRelocatable) {
  const Compiler compiler = std::move(*Compiler::Create({}));
  // Of relocatable code a kernel could be launched by a kernel.
  CompileRequest request{
      "kernel.cu", "__device__ void other(float*);\n__global__ void k(float* x) { other(x); }\n", {}, {"k"}, "sm_90"};
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<core::CompileFailed>(*outcome));
}

}  // namespace
}  // namespace warpwright::compile
