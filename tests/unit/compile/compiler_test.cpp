#include "compile/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "base/file.h"
#include "base/subprocess.h"
#include "compile/module_cache.h"
#include "compile/ptx_code.h"
#include "compile/ptx_numbers.h"
#include "compile/ptx_rules.h"

namespace warpwright {
namespace {

constexpr const char* kSource = R"(#include <cuda_fp16.h>
__device__ float table[4];
template <class T>
__global__ void __launch_bounds__(256) reverse(T* out, const T* in) {
  __shared__ T tile[256];
  tile[threadIdx.x] = in[threadIdx.x] + T(table[threadIdx.x & 3]);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
namespace ns {
__global__ void empty() {}
}
)";

class CompilerTest : public testing::Test {
 protected:
  compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  compile::CompileRequest request{
      "src/reverse.cu", kSource, {}, {"reverse<float>", "reverse<__half>", "ns::empty"}, "sm_90"};

  core::CompileFailed Failure(const compile::CompileRequest& r) {
    const auto outcome = compiler.Compile(r);
    EXPECT_TRUE(outcome);
    if (!outcome || !std::holds_alternative<core::CompileFailed>(*outcome)) return {"(it compiled)"};
    return std::get<core::CompileFailed>(*outcome);
  }
};

TEST_F(CompilerTest, GivesPtxCubinAndResources) {
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"}) {
    request.arch = arch;
    const auto outcome = compiler.Compile(request);
    ASSERT_TRUE(outcome) << outcome.error().Format();
    ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
    const auto& module = std::get<core::CompiledModule>(*outcome);
    ASSERT_EQ(module.kernels.size(), 3u);
    const auto* reverse = module.Find("reverse<float>");
    ASSERT_NE(reverse, nullptr);
    EXPECT_NE(module.ptx.find(".entry " + reverse->symbol), std::string::npos);
    EXPECT_EQ(reverse->static_shared_bytes, 1024) << arch;
    EXPECT_EQ(module.Find("reverse<__half>")->static_shared_bytes, 512) << arch;
    EXPECT_EQ(reverse->max_threads_per_block, 256);
    EXPECT_EQ(module.Find("ns::empty")->max_threads_per_block, 1024);
    EXPECT_GT(reverse->registers, 4);
    EXPECT_EQ(reverse->spill_store_bytes, 0);
    EXPECT_NE(module.ptx.find(".file\t1 \"src/reverse.cu\""), std::string::npos)
        << "the file is named as the user knows it";
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(module.cubin.data()) + 1, 3), "ELF");
  }
}

// wgmma is an instruction of sm_90a; other requests and their keys stay what they are.
TEST_F(CompilerTest, BuildsForHopperAloneWhereTheProjectDoes) {
  request.text = R"(__global__ void order(int* done) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    *done = 1;
#else
    __trap();
#endif
  })";
  request.kernels = {"order"};
  const auto module = [&](const char* arch, bool alone) {
    request.arch = arch;
    request.options.flags.clear();
    if (alone) request.options.flags.insert(core::BuildFlag::kHopperAlone);
    const auto outcome = compiler.Compile(request);
    EXPECT_TRUE(outcome && std::holds_alternative<core::CompiledModule>(*outcome));
    return std::get<core::CompiledModule>(*outcome);
  };
  const auto usual = module("sm_90", false), alone = module("sm_90", true), other = module("sm_80", true);
  EXPECT_EQ(usual.ptx.find("wgmma"), std::string::npos);
  EXPECT_NE(alone.ptx.find("wgmma"), std::string::npos);
  EXPECT_EQ(other.ptx.find("wgmma"), std::string::npos);
  EXPECT_EQ(alone.arch, "sm_90a");
  EXPECT_EQ(other.arch, "sm_80");
  EXPECT_NE(alone.key, usual.key);
  request.arch = "sm_90", request.options.flags = {core::BuildFlag::kHopperAlone};
  const auto both = compiler.CompileBoth(request);
  EXPECT_TRUE(both && !both->differs);
}

TEST_F(CompilerTest, SpillsAndStackAreRead) {
  request.text = R"(__global__ void __launch_bounds__(1024, 2) big(float* p) {
    float a[64];
    for (int i = 0; i < 64; ++i) a[i] = p[i * 32 + threadIdx.x];
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + 1) % 64] + a[(i + 13) % 64];
    for (int i = 0; i < 64; ++i) p[i * 32 + threadIdx.x] = a[i];
  })";
  request.kernels = {"big"};
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome));
  const auto* big = std::get<core::CompiledModule>(*outcome).Find("big");
  EXPECT_EQ(big->registers, 32);
  EXPECT_GT(big->spill_store_bytes, 0);
  EXPECT_GT(big->spill_load_bytes, 0);
  EXPECT_GE(big->local_bytes, big->spill_store_bytes / 4);
}

// Compares with nvcc's assembler on the same PTX, if the toolkit has it.
TEST_F(CompilerTest, ResourcesAgreeWithTheAssembler) {
  base::Command version{{"ptxas", "--version"}, base::MinimalEnvironment()};
  version.env["PATH"] += ":/usr/local/cuda/bin";
  ::setenv("PATH", version.env["PATH"].c_str(), 1);
  if (const auto found = warpwright::base::Run(version); !found || found->exit_code != 0)
    GTEST_SKIP() << "no ptxas on PATH";
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-ptxas"));
  request.text = std::string(kSource) + R"(
  struct Block { int values[20]; };
  __constant__ float weights[100];
  __global__ void __launch_bounds__(1024, 2) spilling(float* p, Block b) {
    float a[64];
    for (int i = 0; i < 64; ++i) a[i] = p[i * 32 + threadIdx.x];
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i * 7 + 1) % 64] + a[(i + 13) % 64];
    for (int i = 0; i < 64; ++i) p[i * 32 + threadIdx.x] = a[i] * weights[i] + b.values[i % 20];
  }
  __global__ void stack(float* p, int n) {
    float a[50];
    for (int i = 0; i < 50; ++i) a[i] = p[i];
    for (int i = 0; i < 50; ++i) a[(i * n) % 50] += a[i];
    p[0] = a[n];
  }
  __global__ void __launch_bounds__(96) dynamic(double* p) {
    extern __shared__ double d[];
    __shared__ double s[33];
    s[threadIdx.x % 33] = d[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[(threadIdx.x + 1) % 33] / 3.0;
  })";
  request.kernels = {"reverse<float>", "reverse<__half>", "ns::empty", "spilling", "stack", "dynamic"};
  for (const char* arch : {"sm_80", "sm_90", "sm_120"}) {
    request.arch = arch;
    const auto outcome = compiler.Compile(request);
    ASSERT_TRUE(outcome && std::holds_alternative<core::CompiledModule>(*outcome));
    const auto& module = std::get<core::CompiledModule>(*outcome);
    ASSERT_TRUE(base::WriteFileAtomically(folder.path() / "m.ptx", module.ptx));
    base::Command ptxas{{"ptxas", "-v", "--generate-line-info", std::string("-arch=") + arch,
                         (folder.path() / "m.ptx").string(), "-o", "/dev/null"},
                        version.env};
    const auto assembled = warpwright::base::Run(ptxas);
    ASSERT_TRUE(assembled && assembled->exit_code == 0) << assembled->err;
    for (const auto& kernel : module.kernels) {
      std::smatch m;
      const std::regex pattern(
          "entry function '" + kernel.symbol +
          "'[^\n]*\n[^\n]*\n *(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads\n"
          "[^\n]*Used (\\d+) registers([^\n]*)");
      ASSERT_TRUE(std::regex_search(assembled->err, m, pattern)) << kernel.symbol << "\n" << assembled->err;
      EXPECT_EQ(kernel.local_bytes, std::stoi(m[1])) << kernel.kernel << arch;
      EXPECT_EQ(kernel.spill_store_bytes, std::stoi(m[2])) << kernel.kernel << arch;
      EXPECT_EQ(kernel.spill_load_bytes, std::stoi(m[3])) << kernel.kernel << arch;
      EXPECT_EQ(kernel.registers, std::stoi(m[4])) << kernel.kernel << arch;
      const std::string rest = m[5];
      EXPECT_EQ(kernel.static_shared_bytes > 0 ? std::to_string(kernel.static_shared_bytes) + " bytes smem" : "",
                std::regex_search(rest, m, std::regex("\\d+ bytes smem")) ? m[0].str() : "")
          << kernel.kernel << arch;
    }
    EXPECT_EQ(module.Find("dynamic")->max_threads_per_block, 96);
    EXPECT_EQ(module.Find("spilling")->max_threads_per_block, 1024);
    EXPECT_GT(module.Find("spilling")->spill_store_bytes, 0);
    EXPECT_GE(module.Find("stack")->local_bytes, 200) << arch;
    // Three more words of parameters are twelve more bytes of constants; the beginning of the bank belongs to the
    // driver.
    EXPECT_EQ(module.Find("spilling")->constant_bytes - module.Find("ns::empty")->constant_bytes, 8 + 80) << arch;
  }
}

TEST_F(CompilerTest, WhatRealFilesHoldCompiles) {
  request.text = R"(#include <cooperative_groups.h>
  #include <cub/block/block_reduce.cuh>
  #include <cuda/std/limits>
  #include <mma.h>
  struct Shape { int rows, columns; int size() const { return rows * columns; } };  // no __device__
  static constexpr int kBlock = 128;
  inline int twice(int x) { return 2 * x; }
  __global__ void f(float* p, Shape s, __int128* wide) {
    using Reduce = cub::BlockReduce<float, kBlock>;
    __shared__ Reduce::TempStorage storage;
    auto block = cooperative_groups::this_thread_block();
    const float sum = Reduce(storage).Sum(p[block.thread_rank()]);
    if (block.thread_rank() == 0) p[0] = sum + s.size() + twice(3) + cuda::std::numeric_limits<float>::epsilon();
    wide[0] *= 3;
  })";
  request.kernels = {"f"};
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
}

TEST_F(CompilerTest, ErrorsNameTheUsersFileAndLine) {
  request.text = "\n\n__global__ void f(float* p) { p[0] = undeclared; }\n";
  request.kernels = {"f"};
  EXPECT_NE(Failure(request).log.find("src/reverse.cu(3): error: identifier \"undeclared\" is undefined"),
            std::string::npos)
      << Failure(request).log;
  EXPECT_EQ(Failure(request).log.find("ptxas"), std::string::npos);
  request.text = "__global__ void g() {}\n";
  EXPECT_NE(Failure(request).log.find('f'), std::string::npos);
}

// The assembler knows lines of PTX alone, which nobody who writes CUDA sees.
TEST_F(CompilerTest, ErrorsInPtxNameTheLineThatWroteIt) {
  request.text =
      "#include \"ptx.cuh\"\n"
      "__global__ void f(float* p) {\n"
      "  p[1] = doubled(p[0]);\n"
      "  asm volatile(\"mul.f33 %0, %0, %0;\" : \"+f\"(p[2]));\n"
      "  asm volatile(\"bar.sink 0;\");\n"
      "}\n";
  request.headers["ptx.cuh"] =
      "__device__ inline float doubled(float v) {\n  asm(\"add.f31 %0, %0, %0;\" : \"+f\"(v));\n  return v;\n}\n";
  request.kernels = {"f"};
  const std::string log = Failure(request).log;
  for (const char* place : {"ptx.cuh(2): error: ", "src/reverse.cu(4): error: ", "src/reverse.cu(5): error: "})
    EXPECT_NE(log.find(place), std::string::npos) << place << "\n" << log;
  EXPECT_NE(log.find("\"mul.f33"), std::string::npos) << log;
  EXPECT_EQ(log.find("ptx input"), std::string::npos) << log;
}

TEST_F(CompilerTest, HeadersComeFromMemoryAndToolkitOnly) {
  request.text = "#include \"../include/scale.cuh\"\n__global__ void f(float* p) { p[0] *= kScale; }\n";
  request.kernels = {"f"};
  EXPECT_NE(Failure(request).log.find("outside the toolkit"), std::string::npos);
  request.headers["../include/scale.cuh"] = "constexpr float kScale = 2;\n";
  EXPECT_TRUE(std::holds_alternative<core::CompiledModule>(*compiler.Compile(request)))
      << "a header in memory may have that name";
  request.headers.clear();
  request.text = "#include \"scale.cuh\"\n__global__ void f(float* p) { p[0] *= kScale; }\n";
  request.headers["scale.cuh"] = "constexpr float kScale = 2;\n";
  EXPECT_TRUE(std::holds_alternative<core::CompiledModule>(*compiler.Compile(request)));
  for (const char* include :
       {"#include \"/etc/passwd\"", "#include </proc/self/environ>", "  #  include \"../../x\"",
        "#define X \"/etc/passwd\"\n#include X", "#include \"no_such_file.h\"", "#include <vector>"}) {
    request.text = std::string(include) + "\n__global__ void f(float* p) { p[0] *= 2; }\n";
    EXPECT_NE(Failure(request).log.find("error"), std::string::npos) << include;
    EXPECT_EQ(Failure(request).log.find("root:"), std::string::npos);
  }
}

TEST_F(CompilerTest, DeviceSideLaunchesAreImpossible) {
  request.text = "__global__ void child() {}\n__global__ void f() { child<<<1, 1>>>(); }\n";
  request.kernels = {"f"};
  EXPECT_NE(Failure(request).log.find("error"), std::string::npos);
}

TEST_F(CompilerTest, UnknownArchIsAUsageError) {
  request.arch = "sm_30";
  EXPECT_EQ(compiler.Compile(request).error().code, ErrorCode::kUsage);
}

TEST_F(CompilerTest, TheCacheReturnsTheSameAndSurvivesDamage) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-cache"));
  const compile::Compiler cached = std::move(*compile::Compiler::Create(folder.path()));
  const auto first = std::get<core::CompiledModule>(*cached.Compile(request));
  const compile::ModuleCache cache(folder.path());
  const auto loaded = cache.Load(first.key);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->ptx, first.ptx);
  EXPECT_EQ(loaded->cubin, first.cubin);
  EXPECT_EQ(loaded->kernels[0].registers, first.kernels[0].registers);
  const auto path = folder.path() / "modules" / (first.key + ".json");
  const std::string bytes = *base::ReadFile(path);
  for (const size_t keep : {size_t{0}, size_t{64}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_TRUE(base::WriteFileAtomically(path, bytes.substr(0, keep)));
    EXPECT_FALSE(cache.Load(first.key)) << keep;
  }
  EXPECT_EQ(std::get<core::CompiledModule>(*cached.Compile(request)).ptx, first.ptx);
  request.arch = "sm_80";
  EXPECT_NE(std::get<core::CompiledModule>(*cached.Compile(request)).key, first.key);
}

TEST_F(CompilerTest, TheCacheForgetsTheOldest) {
  const auto folder = std::move(*base::TemporaryDirectory::Create("ww-cache"));
  const compile::ModuleCache cache(folder.path(), 3000);
  for (const char* key : {"a", "b", "c", "d"}) {
    core::CompiledModule module;
    module.key = key;
    module.ptx.assign(900, 'x');
    cache.Store(module);
  }
  EXPECT_FALSE(cache.Load("a"));
  EXPECT_TRUE(cache.Load("d"));
}

struct RuleRow {
  const char* code;
  std::optional<core::Allow> needs;
};
class PtxRules : public testing::TestWithParam<RuleRow> {};

TEST_P(PtxRules, SeeThroughMacrosAndNameTheLine) {
  const compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  const compile::CompileRequest request{
      "k.cu",
      std::string("#define HIDE(x) x\n__global__ void k(float* p, long long* q) {\n") + GetParam().code + "\n}\n",
      {},
      {"k"},
      "sm_90"};
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
  const auto violations = compile::FindPtxViolations(std::get<core::CompiledModule>(*outcome).ptx, {});
  if (!GetParam().needs) {
    EXPECT_TRUE(violations.empty()) << violations[0].instruction;
    return;
  }
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].needs, *GetParam().needs);
  EXPECT_EQ(violations[0].file, "k.cu");
  EXPECT_EQ(violations[0].line, 3);
  EXPECT_TRUE(compile::FindPtxViolations(std::get<core::CompiledModule>(*outcome).ptx, {*GetParam().needs}).empty());
}
TEST(PtxRulesOnText, OneAllowedNeedDoesNotHideAnother) {
  const std::string line = "{ mov.u64 %rd1, %clock64; ld.global.L2::evict_last.f32 %f1, [%rd2]; }\n";
  EXPECT_EQ(compile::FindPtxViolations(line, {}).at(0).needs, core::Allow::kClock);
  EXPECT_EQ(compile::FindPtxViolations(line, {core::Allow::kClock}).at(0).needs, core::Allow::kCachePolicy);
  EXPECT_TRUE(compile::FindPtxViolations(line, {core::Allow::kClock, core::Allow::kCachePolicy}).empty());
}
TEST(PtxRulesOnText, BlanksAndLineEndsBeforeAModifierHideNothing) {
  for (const char* text : {"nanosleep .u32 100;\n", "{ mov.u32 a, b; nanosleep\n .u32 100; }\n",
                           "nanosleep\n\t\n.u32 100;\n", "nanosleep\t\r\n.u32 100;"})
    EXPECT_EQ(compile::FindPtxViolations(text, {}).size(), 1u) << text;
  EXPECT_EQ(compile::FindPtxViolations(".loc 1 7 0\nbar .sync 0;\n.loc 1 8 0\nnanosleep .u32 1;\n", {}).at(0).line, 8);
}
TEST(PtxRulesOnText, AGridsBarrierIsNoClock) {
  EXPECT_TRUE(compile::FindPtxViolations("mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\n", {}).empty());
  for (const char* other : {"%envreg0", "%envreg3", "%envreg12", "%envreg21"})
    EXPECT_EQ(compile::FindPtxViolations(std::string("mov.u32 %r1, ") + other + ";\n", {}).size(), 1u) << other;
}
TEST(PtxRulesOnText, NamesAreNoInstructions) {
  for (const char* line :
       {".visible .entry nanosleep(", "\tld.param.u64 %rd1, [evict_last_param_0];", "\tcall.uni vprintf_like, ();",
        "// %clock64", "\t.reg .b32 %p<3>;", ".extern .func (.param .b32 func_retval0) vprintf"})
    EXPECT_TRUE(compile::FindPtxViolations(std::string(line) + "\n", {}).empty()) << line;
}

TEST(PtxRulesOnText, NumbersThatFitAreNotRounded) {
  const std::pair<const char*, bool> rows[] = {
      {"mov.f32 %f1, 0f00000000;\n{  cvt.rn.f16.f32 %rs1, %f1;}\n", false},
      {"mov.f32 %f1, 0f3F800000;\ncvt.rn.bf16.f32 %rs1, %f1;\n", false},
      {"mov.f32 %f1, 0f3DCCCCCD;\ncvt.rn.f16.f32 %rs1, %f1;\n", true},
      {"mov.f32 %f1, 0f00000000;\ncvt.rn.f16.f32 %rs1, %f2;\n", true},
      {"mov.f32 %f1, 0f00000000;\nld.global.f32 %f1, [%rd1];\ncvt.rn.f16.f32 %rs1, %f1;\n", true},
      {"mov.f32 %f1, 0f00000000;\n@%p1 mov.f32 %f1, %f2;\ncvt.rn.f16.f32 %rs1, %f1;\n", true},
      {"mov.f32 %f1, 0f00000000;\nld.global.v2.f32 {%f2, %f1}, [%rd1];\ncvt.rn.f16.f32 %rs1, %f1;\n", true},
      {"mov.f32 %f1, 0f00000000;\n{ mov.f32 %f3, %f2; mov.f32 %f1, %f2; }\ncvt.rn.f16.f32 %rs1, %f1;\n", true},
      {"mov.f32 %f1, 0f00000000;\nadd.f32 %f2, %f1, %f3;\ncvt.rn.f16.f32 %rs1, %f1;\n", false},
  };
  for (const auto& [ptx, rounds] : rows) EXPECT_EQ(compile::FindPrecision(ptx).size(), rounds ? 1u : 0u) << ptx;
}

struct PrecisionRow {
  const char* code;
  std::vector<std::string> uses;
};
class PrecisionUses : public testing::TestWithParam<PrecisionRow> {};

TEST_P(PrecisionUses, AreFoundInWhatTheCompilerWrites) {
  const compile::Compiler compiler = std::move(*compile::Compiler::Create({}));
  const std::string text =
      "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n__global__ void k(float* f, double* d, __half* h, "
      "__nv_bfloat16* b, unsigned* u) {\n";
  const auto outcome = compiler.Compile({"k.cu", text + GetParam().code + "\n}\n", {}, {"k"}, "sm_90"});
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
  std::vector<std::string> uses;
  for (const core::FoundUse& use : compile::FindPrecision(std::get<core::CompiledModule>(*outcome).ptx)) {
    uses.push_back(core::Text(use.use));
    EXPECT_FALSE(use.instruction.empty());
    EXPECT_GT(use.line, 0) << use.instruction;
  }
  EXPECT_EQ(uses, GetParam().uses);
}

INSTANTIATE_TEST_SUITE_P(
    All, PrecisionUses,
    testing::Values(PrecisionRow{"f[0] = f[1] * f[2] + sqrtf(f[3]); d[0] = f[1] + d[1]; u[0] = (unsigned)f[4];", {}},
                    PrecisionRow{"f[0] = __expf(f[1]);", {"approximate ex2"}},
                    PrecisionRow{"f[0] = __fdividef(f[1], f[2]);", {"approximate div"}},
                    PrecisionRow{"f[0] = (float)d[0];", {"to f32"}},
                    PrecisionRow{"h[0] = __float2half(f[0]);", {"to f16"}},
                    PrecisionRow{"f[0] = __half2float(h[0]) + __bfloat162float(b[0]); h[1] = __hmax(h[2], h[3]); if "
                                 "(h[4] > h[5]) b[1] = -b[2];",
                                 {}},
                    PrecisionRow{"*(__nv_bfloat162*)b = __floats2bfloat162_rn(f[0], f[1]);", {"to bf16"}},
                    PrecisionRow{"h[0] = h[1] * h[2];", {"arithmetic in f16"}},
                    PrecisionRow{"b[0] = __hfma(b[1], b[2], b[3]);", {"arithmetic in bf16"}},
                    PrecisionRow{"asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(u[0]) : \"f\"(f[0]));", {"to tf32"}},
                    PrecisionRow{"asm(\"cvt /* */ .rn\\n.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(*(unsigned "
                                 "short*)u) : \"f\"(f[0]), \"f\"(f[1]));",
                                 {"to e4m3"}},
                    PrecisionRow{"asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                                 "{%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};\" : \"+f\"(f[0]), \"+f\"(f[1]), "
                                 "\"+f\"(f[2]), \"+f\"(f[3]) : \"r\"(u[0]));",
                                 {"products in tf32"}},
                    PrecisionRow{"asm(\"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, "
                                 "{%2,%2}, {%0,%1};\" : \"+r\"(u[0]), \"+r\"(u[1]) : \"r\"(u[2]));",
                                 {"products in f16", "sums in f16"}},
                    PrecisionRow{"asm(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                                 "{%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};\" : \"+f\"(f[0]), \"+f\"(f[1]), "
                                 "\"+f\"(f[2]), \"+f\"(f[3]) : \"r\"(u[0]));",
                                 {"products in bf16"}},
                    PrecisionRow{"asm(\"add.ftz.f32 %0, %1, %1;\" : \"=f\"(f[0]) : \"f\"(f[1]));",
                                 {"flushed subnormals"}}));

INSTANTIATE_TEST_SUITE_P(
    All, PtxRules,
    testing::Values(
        RuleRow{"p[0] = __expf(p[1]);", {}}, RuleRow{"q[0] = clock64();", core::Allow::kClock},
        RuleRow{"HIDE(__nanosleep)(100);", core::Allow::kClock},
        RuleRow{"asm volatile(\"/* // */ mov.u64 %0, %%globaltimer;\" : \"=l\"(q[0]));", core::Allow::kClock},
        RuleRow{"asm volatile(\"mov.u64 %0,/**/%%clock64;\" : \"=l\"(q[0]));", core::Allow::kClock},
        RuleRow{"asm volatile(\"/* %%clock64\\n %%smid */ mov.u64 %0, 1; // %%clock\" : \"=l\"(q[0]));", {}},
        RuleRow{"asm volatile(\"mov.u64 %0, %%gridid;\" : \"=l\"(q[0]));", core::Allow::kClock},
        RuleRow{"q[0] = (long long)malloc(64);", core::Allow::kState},
        RuleRow{"printf(\"check: pass\");", core::Allow::kPrintf},
        RuleRow{"long long evict_last = q[1]; q[0] = evict_last + __ldcs(q + 2);", {}},
        RuleRow{"int x; asm volatile(\"mov.u32 %0, %%globaltimer_lo;\" : \"=r\"(x)); q[0] = x;", core::Allow::kClock},
        RuleRow{"asm volatile(\"{ .reg .u32 a; .reg .u32 b; mov.u32 a, 1; add.u32 b, a, a; add.u32 a, a, b; add.u32 b, "
                "a, a; add.u32 a, a, b; mov.u32 a, %clock; }\");",
                core::Allow::kClock},
        RuleRow{"asm volatile(\".reg .u32 zz;\\n mov.u32 zz, %pm0;\");", core::Allow::kClock},
        RuleRow{"asm volatile(\"st.global.L2::cache_hint.f32 [%0], %1, %2;\" :: \"l\"(p), \"f\"(p[1]), "
                "\"l\"(0x14F0000000000000LL));",
                core::Allow::kCachePolicy},
        RuleRow{"asm volatile(\"prefetch.global.L2::evict_last [%0];\" ::\"l\"(p));", core::Allow::kCachePolicy}));

TEST_F(CompilerTest, KernelsMayShareTheNameOfALibraryFunction) {
  request.text = "__global__ void norm(float* x) { *x = 1; }\n__global__ void normal(float* x) { *x = 2; }\n";
  request.kernels = {"norm", "normal"};
  const auto outcome = compiler.Compile(request);
  ASSERT_TRUE(outcome) << outcome.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
  const auto& module = std::get<core::CompiledModule>(*outcome);
  EXPECT_EQ(module.Find("norm")->symbol, "_Z4normPf");
  EXPECT_EQ(module.Find("normal")->symbol, "_Z6normalPf");
}

TEST_F(CompilerTest, CodeThatAnotherBuildChangesIsFound) {
  struct Row {
    const char* text;
    bool depends, by_char = false;
  };
  const Row rows[] = {
      {"__global__ void k(int* x) { *x = 1; }", false},
      {"__global__ void k(int* x) { *x = (char)*x; }", false, true},
      {"__global__ void k(int* x) { *x = (signed char)*x + (unsigned char)*x; }", false},
      {"__global__ void k(char* x) { x[1] = x[0]; }", false},
      {"__global__ void k(float* x, bool b) { if (b) *x = *(const float*)((const char*)x + 4); }", false},
      {"__global__ void k(int* x, const bool* b) { *x = b[0] + b[1]; }", false},
      {"__global__ void k(int* x) { *x = static_cast<char>(-1) < 0 ? 1 : 2; }", false, true},
      {"namespace { __global__ void k(int* x) { *x = 1; } }", false},  // whose name has a digest of the options
      {"#include <cuda_fp16.h>\n__global__ void k(int* x) { *x = __half2int_rn(__half(2.5f)); }", false},
      {"__global__ void k(int* x) { *x = static_cast<decltype(u8'x')>(-1) > 0; }", true},
      {"#ifdef NDEBUG\n#define LAST 1\n#else\n#define LAST 2\n#endif\n__global__ void k(int* x) { *x = LAST; }", true},
      {"__global__ void k(int* x) { int concept = 1; *x = concept; }", true},  // no longer compiles
  };
  for (const Row& row : rows) {
    request.text = row.text;
    request.kernels = {"k"};
    const auto built = compiler.CompileBoth(request);
    ASSERT_TRUE(built) << built.error().Format();
    ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(built->usual)) << row.text;
    EXPECT_EQ(built->differs, row.depends) << row.text;
    EXPECT_EQ(built->by_char, row.by_char) << row.text;
  }
}

TEST(PtxCode, IsWhatDependsOnNoOptions) {
  const auto ptx = [](const std::string& digest, const std::string& value, const std::string& bytes) {
    return "// " + digest + "\n.address_size 64\n\t// .globl\t_GLOBAL__N__" + digest + "_k\n.entry _GLOBAL__N__" +
           digest + "_k() {\n\tmov.u32 %r1, " + value + ";\n}\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 " +
           bytes + "\n\n\t}\n";
  };
  const std::string code = compile::CodeOf(ptx("4fbd9b84", "1", "95,52,102"));
  EXPECT_EQ(code, compile::CodeOf(ptx("0e9bc140", "1", "95,48,101"))) << "names of static functions, for debuggers";
  EXPECT_NE(code, compile::CodeOf(ptx("4fbd9b84", "2", "95,52,102")));
  EXPECT_NE(code.find("mov.u32"), std::string::npos);
}

TEST(PtxNumbers, AreThoseOfFloatsAndComparisons) {
  const std::set<double> numbers = compile::FindNumbers(
      "\tfma.rn.f32 %f1, %f2, 0fC61C3C00, 0f3F800000;\n\tadd.f64 %fd1, %fd2, 0d4000000000000000;\n"
      "\tmov.f32 %f3, 0f7F800000;\n\tsetp.gt.s32 %p1, %r1, 1000000;\n\tsetp.lt.s32 %p2, %r1, -3;\n"
      "\tadd.s32 %r2, %r1, 77;\n\t.reg .b32 %r<5>;\n0fXYZ 0f 0d123\n");
  EXPECT_EQ(numbers, (std::set<double>{-9999, 1, 2, 1000000, -3}));
}

}  // namespace
}  // namespace warpwright
