// The parts of PC sampling and of a session that need no GPU.
#include <dlfcn.h>

#include "compile/compiler.h"
#include "gpu/cupti_session.h"
#include "tests/unit/gpu_counters/support.h"

namespace warpwright::gpu {
namespace {

TEST(PcSampling, PeriodFollowsTheExpectedTime) {
  const struct {
    double us;
    int low, high;
  } rows[] = {{0, 5, 5}, {1, 5, 5}, {100, 6, 10}, {1e4, 13, 16}, {1e9, 29, 31}, {1e300, 31, 31}};
  int last = 0;
  for (const auto& row : rows) {
    const int exponent = PeriodExponent(row.us);
    EXPECT_GE(exponent, row.low) << row.us;
    EXPECT_LE(exponent, row.high) << row.us;
    EXPECT_GE(exponent, last) << "longer runs are sampled less often";
    last = exponent;
  }
}

TEST(PcSampling, LinesAreSummedAndSorted) {
  PcSamples samples;
  samples.records = {{"k", 0x10, {{"long_scoreboard", 50}, {"selected", 1}}},
                     {"k", 0x20, {{"long_scoreboard", 40}, {"wait", 4}}},
                     {"k", 0x30, {{"barrier", 60}}},
                     {"k", 0x40, {{"wait", 999}}},
                     {"other", 0x10, {{"wait", 500}}}};
  const auto locate = [](uint64_t pc) -> std::optional<SourceLine> {
    if (pc == 0x40) return std::nullopt;
    return SourceLine{"a.cu", pc == 0x30 ? 9 : 7};
  };
  const auto lines = HottestLines(samples, "k", locate, 10);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 7);
  EXPECT_EQ(lines[0].samples, 95u);
  EXPECT_EQ(lines[0].stalls, (std::map<std::string, uint64_t>{{"long_scoreboard", 90}, {"selected", 1}, {"wait", 4}}));
  EXPECT_EQ(lines[1].line, 9);
  EXPECT_EQ(lines[1].samples, 60u);
  EXPECT_EQ(HottestLines(samples, "k", locate, 1).size(), 1u);
  EXPECT_TRUE(HottestLines(samples, "none", locate, 10).empty());
}

TEST(PcSampling, PathsGetTheNameOfTheModule) {
  constexpr const char* kPtx =
      "\t.file\t1 \"src/a.cu\"\n\t.file\t2 \"a.cu\"\n\t.file\t3 \"/usr/include/x.h\"\n.file broken\n";
  const struct {
    const char *path, *name;
  } rows[] = {{"/build/src/a.cu", "src/a.cu"},          {"/build/other/a.cu", "a.cu"},
              {"/usr/include/x.h", "/usr/include/x.h"}, {"/build/extra_src/a.cu", "a.cu"},
              {"/build/b.cu", "/build/b.cu"},           {"src/a.cu", "src/a.cu"}};
  for (const auto& row : rows) EXPECT_EQ(NameInModule(row.path, kPtx), row.name) << row.path;
  EXPECT_EQ(NameInModule("a.cu", ".file 1 \""), "a.cu");
}

// A cubin as the worker compiles it names the user's file and lines.
TEST(PcSampling, InstructionsLeadToLines) {
  WW_NEED_CUPTI(cupti);
  const auto compiler = compile::Compiler::Create({});
  if (!compiler) GTEST_SKIP() << compiler.error().Format();
  const compile::CompileRequest request{"src/sum.cu",
                                        "__global__ void sum(float* out, const float* in, int n) {\n"  // 1
                                        "  float total = 0;\n"
                                        "  for (int i = threadIdx.x; i < n; i += 32)\n"
                                        "    total += in[i];\n"       // 4
                                        "  atomicAdd(out, total);\n"  // 5
                                        "}\n",
                                        {},
                                        {"sum"},
                                        "sm_90"};
  const auto outcome = compiler->Compile(request);
  ASSERT_TRUE(outcome) << outcome.error().Format();
  ASSERT_TRUE(std::holds_alternative<core::CompiledModule>(*outcome)) << std::get<core::CompileFailed>(*outcome).log;
  const auto& module = std::get<core::CompiledModule>(*outcome);
  std::set<int> lines;
  for (uint64_t pc = 0; pc < 4096; pc += 16) {
    const auto where = CubinLines(cupti, module.cubin).At(module.kernels[0].symbol, pc);
    if (!where) continue;
    lines.insert(where->line);
    EXPECT_EQ(NameInModule(where->file, module.ptx), "src/sum.cu") << "as the user knows it, not " << where->file;
    EXPECT_GE(where->line, 1);
    EXPECT_LE(where->line, 6);
  }
  EXPECT_TRUE(lines.count(4)) << "the load";
  EXPECT_TRUE(lines.count(5)) << "the atomic";
  EXPECT_FALSE(CubinLines(cupti, module.cubin).At("no_such_kernel", 0));
  const std::vector<std::byte> garbage(100, std::byte{7});
  EXPECT_FALSE(CubinLines(cupti, garbage).At("sum", 0));
}

// CUPTI remembers lines by function and size: a version with the same code on other lines had the first one's.
TEST(PcSampling, LinesAreThoseOfTheCubinThatIsAskedAbout) {
  WW_NEED_CUPTI(cupti);
  const auto compiler = compile::Compiler::Create({});
  if (!compiler) GTEST_SKIP() << compiler.error().Format();
  const std::string kernel =
      "__global__ void k(float* out, const float* in) {\n  out[threadIdx.x] = in[threadIdx.x];\n}\n";
  std::vector<std::byte> memory(1 << 20);
  for (const int empty : {0, 5, 2}) {
    const auto outcome =
        compiler->Compile({"src/k.cu", std::string(static_cast<size_t>(empty), '\n') + kernel, {}, {"k"}, "sm_90"});
    ASSERT_TRUE(outcome) << outcome.error().Format();
    const auto& module = std::get<core::CompiledModule>(*outcome);
    ASSERT_LE(module.cubin.size(), memory.size());
    std::copy(module.cubin.begin(), module.cubin.end(), memory.begin());
    std::set<int> lines;
    for (uint64_t pc = 0; pc < 512; pc += 16)
      if (const auto where =
              CubinLines(cupti, std::span(memory).first(module.cubin.size())).At(module.kernels[0].symbol, pc))
        lines.insert(where->line);
    EXPECT_TRUE(lines.contains(empty + 2)) << empty;
    EXPECT_FALSE(lines.contains(empty + 5)) << empty;
  }
}

// Without a driver nothing can be counted, and that is a value with a remedy.
TEST(Session, WithoutADriverCountersAreUnavailable) {
  WW_NEED_CUPTI(cupti);
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr)
    GTEST_SKIP() << "there is a driver: tests/gpu has the tests with one";
  auto session = CounterSession::Create(nullptr, 0);
  ASSERT_TRUE(session) << session.error().Format();
  ASSERT_TRUE(session->unavailable());
  EXPECT_FALSE(session->unavailable()->reason.empty());
  EXPECT_NE(session->unavailable()->remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  int launched = 0;
  const auto launch = [&]() -> Status { return ++launched, Status{}; };
  const auto counted = session->Collect(CounterTier::kCore, launch, 1);
  ASSERT_TRUE(counted);
  EXPECT_TRUE(std::holds_alternative<CountersUnavailable>(*counted));
  const auto sampled = session->Sample(core::CompiledModule{}, {launch, launch, 100});
  ASSERT_TRUE(sampled);
  EXPECT_TRUE(std::holds_alternative<CountersUnavailable>(*sampled));
  std::vector<core::LaunchReport> reports(2);
  const auto why = CountPlan(*session, CounterTier::kCandidate, core::Chip{}, core::CompiledModule{},
                             {launch, launch, launch, 100}, reports);
  ASSERT_TRUE(why);
  ASSERT_TRUE(*why);
  EXPECT_EQ((*why)->remedy, session->unavailable()->remedy);
  for (const auto& report : reports) EXPECT_EQ(report.unmeasured.count("dram_us"), 1u);
  EXPECT_EQ(launched, 0) << "nothing runs for counters that cannot be read";
  EXPECT_GT(cupti.version, 0u);
}

}  // namespace
}  // namespace warpwright::gpu
