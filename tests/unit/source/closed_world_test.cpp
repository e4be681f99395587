// What host code may use, decided on compiled launchers: ordinary ones use nothing foreign, and whatever could tell a
// recording from a call, or act beyond it, is named with its line.
#include "source/closed_world.h"

#include <gtest/gtest.h>

#include <span>

#include "base/file.h"
#include "source/ast.h"
#include "source/build_dependence.h"
#include "tests/unit/source/support.h"

namespace warpwright {
namespace {

// A file whose entry is `void scale(float* out, const float* x, int n)`; the launcher begins in line 11.
std::string File(const std::string& before, const std::string& body) {
  std::string text =
      "#include <cuda_runtime.h>\n#include <cmath>\n#include <cstdio>\n#include <cstdlib>\n#include <string>\n"
      "__global__ void k(float* out, const float* x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = 2.0f * x[i];\n}\n";
  return text + before + "\nvoid scale(float* out, const float* x, int n) {\n" + body +
         "\n  k<<<(n + 255) / 256, 256>>>(out, x, n);\n}\n";
}

// Rows are compiled several at a time, which is most of a row's cost; nothing of a body runs.
struct Row {
  const char *before, *body, *use = "";
};
std::string FileOf(std::span<const Row> rows) {
  std::string before, body;
  for (const Row& row : rows) {
    before += std::string(row.before) + "\n";
    body += "  if (n < 0) {\n" + std::string(row.body) + "\n  }\n";
  }
  return File(before, body);
}
constexpr size_t kAtATime = 8;

struct Uses {
  core::CodeUses host, build;
  std::string refused;
};

Uses UsesOf(const std::string& text) {
  core::KernelSpec spec;
  spec.name = spec.entry = "scale";
  spec.file = "scale.cu";
  const std::vector<core::Expression> shape = {*core::Expression::Parse("n")};
  spec.args = {{"out", core::BufferArgument{core::DType::kF32, shape, core::Role::kOut, {}, 256}, 0},
               {"x", core::BufferArgument{core::DType::kF32, shape, core::Role::kIn, {}, 256}, 0},
               {"n", core::ScalarArgument{core::DType::kI32, {}}, 0}};
  core::Case c;
  c.scalars["n"] = int64_t{1000};
  const auto sliced = source::Slice({"/", "scale.cu", text}, "scale");
  EXPECT_TRUE(sliced) << sliced.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) return {{}, {}, refused->reason};
  const auto& slices = std::get<source::Slices>(*sliced);
  const auto recorded = source::RecordPlan(slices, RequestFor(spec, c));
  EXPECT_TRUE(recorded) << recorded.error().Format();
  if (const auto* refused = std::get_if<core::Refused>(&*recorded))
    return {{}, slices.build_dependence, refused->reason};
  auto uses = std::get<source::Recorded>(*recorded).foreign_uses;
  std::erase_if(uses, [](const auto& use) { return use.use.kind == core::CodeUseKind::kEntry; });  // each has one
  return {std::move(uses), slices.build_dependence, ""};
}

std::string Names(const core::CodeUses& uses) {
  std::string names;
  for (const auto& found : uses) names += core::Text(found.use) + " (line " + std::to_string(found.line) + ")\n";
  return names;
}

TEST(ClosedWorld, OrdinaryHostCodeUsesNothingForeign) {
  const Row rows[] = {
      {"", ""},
      {"static int CeilDiv(int a, int b) { return (a + b - 1) / b; }", "  n = CeilDiv(n, 1);"},
      {"#include <vector>\n#include <algorithm>",
       "  std::vector<int> v(3, n); n = *std::max_element(v.begin(), v.end());"},
      {"#include <map>\n#include <unordered_map>\n#include <set>",
       "  std::map<int, std::string> m; m[n] = std::to_string(n); std::unordered_map<std::string, int> u; u[m[n]] = "
       "n;\n"
       "  std::set<int> s{n}; s.erase(n);"},
      {"#include <sstream>\n#include <iostream>\n#include <stdexcept>",
       "  std::ostringstream s; s << n << 1.5; if (n < 0) throw std::runtime_error(s.str()); std::cerr << s.str() << "
       "std::endl;"},
      {"#include <cassert>",
       "  assert(n > 0); if (n < 0) { fprintf(stderr, \"%s:%d\\n\", __FILE__, __LINE__); exit(1); }"},
      {"#include <memory>\n#include <array>\n#include <functional>",
       "  auto p = std::make_unique<int[]>(4); std::array<int, 2> a{n, 1}; std::function<int(int)> f = [&](int y) { "
       "return y + a[0]; }; p[0] = f(n); auto q = std::make_shared<int>(n); n = *q;"},
      {"",
       "  double d = std::sqrt(n) + std::log2(n) + std::pow(n, 0.5) + std::exp(-1.0) + sinf(1.0f) + fmaf(1, 2, 3);\n"
       "  n += d < 0;"},
      {"#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, \"%s at %s:%d\\n\", "
       "cudaGetErrorString(e), __FILE__, __LINE__); abort(); } } while (0)",
       "  CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));\n"
       "  int device = 0; CHECK(cudaGetDevice(&device)); cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, "
       "device));"},
      {"#pragma once\nstruct alignas(16) Args { int n; };\n[[maybe_unused]] static int unused_helper(int a) { return "
       "a; }\n"
       "static __attribute__((noinline)) int Twice(int a) { return 2 * a; }",
       "  Args a{n}; n = Twice(a.n) / 2;\n#pragma unroll\n  for (int i = 0; i < 2; ++i) n += 0;"},
      {"#ifndef TILE\n#define TILE 32\n#endif", "  if (n > TILE) n += 0;"},
      {"", "  int* scratch = new int[4]{n}; n = scratch[0]; delete[] scratch; void* p = malloc(8); free(p);"},
  };
  for (size_t begin = 0; begin < std::size(rows); begin += kAtATime) {
    const std::span<const Row> some(rows + begin, std::min(kAtATime, std::size(rows) - begin));
    const Uses uses = UsesOf(FileOf(some));
    EXPECT_EQ(uses.refused, "") << FileOf(some);
    EXPECT_EQ(Names(uses.host), "") << FileOf(some);
    EXPECT_EQ(Names(uses.build), "") << FileOf(some);
  }
}

TEST(ClosedWorld, NamesWhatIsForeign) {
  const Row rows[] = {
      {"", "  if (getenv(\"HOME\")) n += 0;", "getenv"},
      {"extern \"C\" char** environ;", "  if (environ) n += 0;", "environ"},
      {"extern char* __progname;", "  if (__progname[0] == 'r') n += 0;", "__progname"},
      {"#include <unistd.h>", "  if (getpid() == 1) n += 0;", "getpid"},
      {"#include <unistd.h>", "  if (syscall(39) == 1) n += 0;", "syscall"},
      {"#include <time.h>", "  if (time(nullptr) == 1) n += 0;", "time"},
      {"#include <chrono>", "  if (std::chrono::steady_clock::now().time_since_epoch().count() == 1) n += 0;", "now()"},
      {"#include <random>", "  std::random_device r; if (r() == 1) n += 0;", "random_device"},
      {"", "  if (rand() == 1) n += 0;", "rand"},
      {"", "  FILE* f = fopen(\"/proc/self/maps\", \"r\"); if (f) n += 0;", "fopen"},
      {"#include <fstream>", "  std::ifstream f(\"/etc/passwd\"); if (f.good()) n += 0;", "basic_ifstream"},
      {"extern \"C\" void* dlsym(void*, const char*);", "  if (dlsym(nullptr, \"write\")) n += 0;", "dlsym"},
      {"#include <thread>", "  std::thread([] {}).join();", "thread"},
      {"#include <signal.h>", "  signal(SIGUSR1, SIG_IGN);", "signal"},
      {"extern \"C\" void* mmap(void*, unsigned long, int, int, int, long);",
       "  if (mmap(nullptr, 1, 0, 0, 0, 0) == nullptr) n += 0;", "mmap"},
      {"extern \"C\" int socket(int, int, int);", "  if (socket(1, 1, 0) == 9) n += 0;", "socket"},
      {"extern \"C\" int getrlimit(int, void*);", "  if (getrlimit(1, nullptr) == 0) n += 0;", "getrlimit"},
      {"#include <setjmp.h>", "  jmp_buf b; if (setjmp(b)) n += 0;", "setjmp"},
      {"#include <stdlib.h>", "  atexit([] {});", "atexit"},
      {"", "  asm volatile(\"\");", "inline assembly"},
      {"", "  if (__builtin_return_address(0) == nullptr) n += 0;", "__builtin_return_address"},
      {"", "  if (__builtin_ia32_rdtsc() == 1) n += 0;", "__builtin_ia32_rdtsc"},
      {"static thread_local int calls;", "  n += ++calls * 0;", "thread-local"},
      {"void* operator new(unsigned long n) { return malloc(n); }", "  delete new int(n);",
       "a definition of operator new"},
      {"__attribute__((weak)) int hook(int a) { return a; }", "  n = hook(n);", "weak"},
      {"int Start(int a) __asm__(\"start_label\"); int Start(int a) { return a; }", "  n = Start(n);",
       "inline assembly"},
      {"", "  int version = 0; cudaDriverGetVersion(&version); n += version * 0;", "cudaDriverGetVersion"},
      {"", "  cudaStreamCaptureStatus s; if (cudaStreamIsCapturing(0, &s) == cudaSuccess) n += 0;",
       "cudaStreamIsCapturing"},
      {"", "  cudaPointerAttributes a; if (cudaPointerGetAttributes(&a, x) == cudaSuccess) n += 0;",
       "cudaPointerGetAttributes"},
      {"__attribute__((section(\".hidden_place\"))) int placed = 1;", "  n += placed * 0;", "section"},
  };
  for (size_t begin = 0; begin < std::size(rows); begin += kAtATime) {
    const std::span<const Row> some(rows + begin, std::min(kAtATime, std::size(rows) - begin));
    const Uses uses = UsesOf(FileOf(some));
    ASSERT_EQ(uses.refused, "") << FileOf(some);
    for (const Row& row : some)
      EXPECT_NE(Names(uses.host).find(row.use), std::string::npos) << row.before << row.body << Names(uses.host);
  }
}

// What it writes with is no longer its own: then nothing is recorded.
TEST(ClosedWorld, NobodyTakesTheRecordersPlace) {
  const Uses uses = UsesOf(File("extern \"C\" long write(int, const void*, unsigned long n) { return (long)n; }",
                                "  if (n < 0 && write(1, \"\", 0)) n += 0;"));
  EXPECT_TRUE(!uses.refused.empty() || Names(uses.host).find("a definition of write") != std::string::npos);
}

TEST(ClosedWorld, GivesTheLineOfTheUse) {
  const Uses uses = UsesOf(File("", "  n += 0;\n  if (getenv(\"HOME\")) n += 0;"));
  ASSERT_EQ(uses.host.size(), 1u) << Names(uses.host);
  EXPECT_EQ(uses.host.begin()->line, 13);
  EXPECT_EQ(uses.host.begin()->file, "scale.cu");
}

TEST(BuildDependence, NamesThatAnotherBuildMayDefineOtherwise) {
  const Row rows[] = {
      {"", "  if (__cplusplus > 201703L) n += 0;", "__cplusplus"},
      {"#ifdef PROJECT_FAST\n#endif", "", "PROJECT_FAST"},
      {"#if defined(A_FLAG) || 1\n#endif", "", "A_FLAG"},
      {"#if __has_include(<nv/target>)\n#endif", "", "__has_include"},
      {"#ifndef NDEBUG\n#define NDEBUG 1\n#endif", "", "NDEBUG"},
      {"#ifdef __OPTIMIZE__\n#endif", "", "__OPTIMIZE__"},
      {"constexpr int Sum(const char* s) { return *s ? *s + Sum(s + 1) : 0; }", "  n += Sum(__FILE__) * 0;",
       "__FILE__"},
      {"", "  n += __COUNTER__ * 0;", "__COUNTER__"},
      {"", "  n += (__FUNCTION__[0] == 0);", "__FUNCTION__"},
      {"#define PASTE(a, b) a##b", "  n += PASTE(__cplus, plus) * 0;", "__cplus"},
      {"namespace ww { extern unsigned long symbol_count; }", "  if (ww::symbol_count == 7) n += 0;", "ww"},
      {"#if CUDART_VERSION >= 12000\n#endif", "", "CUDART_VERSION"},
      {"// Why?"
       "?/",
       "  n += 0;", "trigraph"},
  };
  for (size_t begin = 0; begin < std::size(rows); begin += kAtATime) {
    const std::span<const Row> some(rows + begin, std::min(kAtATime, std::size(rows) - begin));
    const Uses uses = UsesOf(FileOf(some));
    for (const Row& row : some)
      EXPECT_NE(Names(uses.build).find(row.use), std::string::npos) << row.before << row.body << Names(uses.build);
  }
}

// The manifest says that there is one architecture: what it defines is known, and another build only stops.
TEST(BuildDependence, WhatABuildForHopperAloneDefines) {
  const auto names = [](const std::string& otherwise, bool alone) {
    const std::string text =
        "__global__ void k(float* out, const float* x, int n) {\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n"
        "  out[0] = x[0];\n#else\n  " +
        otherwise +
        "\n#endif\n}\n"
        "void scale(float* out, const float* x, int n) { k<<<1, 1>>>(out, x, n); }\n";
    core::SourceRef source{"/", "scale.cu", text};
    if (alone) source.build.flags.insert(core::BuildFlag::kHopperAlone);
    const auto ast = source::Ast::Parse(source);
    EXPECT_TRUE(ast) << ast.error().Format();
    return Names(source::FindBuildDependence(*ast));
  };
  EXPECT_EQ(names("__trap();", true), "");
  EXPECT_NE(names("out[0] = 1;", true), "");
  EXPECT_NE(names("__trap();", false).find("__CUDA_ARCH_FEAT_SM90_ALL"), std::string::npos);
}

TEST(BuildDependence, WhatActsByBeingThere) {
  const struct {
    const char* before;
    bool acts;
  } rows[] = {
      {"static int Begin() { return cudaDeviceReset() == cudaSuccess; }\nstatic int begun = Begin();", true},
      {"struct Init { Init() { cudaSetDevice(0); } };\nstatic Init init;", true},
      {"__attribute__((constructor)) static void Early() { setenv(\"A\", \"1\", 1); }", true},
      {"asm(\".globl scale\");", true},
      {"extern \"C\" long write(int, const void*, unsigned long n) { return (long)n; }", true},
      {"int Global(int a) { return a; }", true},
      {"template <class T> T Generic(T a) { return a; }", false},
      {"inline int Inlined(int a) { return a; }", false},
      {"namespace {\nint Hidden(int a) { return a; }\n}", false},
      {"static const int kTile = 32;", false},
      {"constexpr float kTable[2] = {1, 2};", false},
      {"static int Helper(int a) { return a; }", false},
      {"__constant__ float table[4];", false},
      {"__device__ int counter = 0;", false},
  };
  for (const auto& row : rows) {
    const Uses uses = UsesOf(File(row.before, ""));
    EXPECT_EQ(!uses.build.empty(), row.acts) << row.before << "\n" << Names(uses.build);
  }
}

TEST(HostObject, IsReadWithinItsBounds) {
  // Any recorder's object will do.
  (void)UsesOf(File("", ""));
  std::filesystem::path object;
  for (const auto& entry : std::filesystem::directory_iterator(CompiledCache()))
    if (std::filesystem::exists(entry.path() / "host.o")) object = entry.path() / "host.o";
  ASSERT_FALSE(object.empty());
  const std::string bytes = *base::ReadFile(object);
  const auto read = [](const std::string& text) { return source::ReadHostObject(std::as_bytes(std::span(text))); };
  const auto whole = read(bytes);
  ASSERT_TRUE(whole) << whole.error().Format();
  EXPECT_TRUE(whole->defined.contains("_ZN2ww4CallEv"));
  EXPECT_TRUE(whole->sections.contains(".text"));
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) (void)read(bytes.substr(0, size));
  for (size_t at = 0; at < 64; ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    (void)read(changed);
  }
  EXPECT_FALSE(read("")) << "empty";
  EXPECT_FALSE(read(std::string(64, 'x')));
}

// What another function of the file uses as well; what it uses alone; and neither.
TEST(SharedCode, IsWhatOthersUseToo) {
  const std::string helpers =
      "#define SIZE 256\n__device__ float twice(float x) { return 2 * x; }\n"
      "__device__ float half(float x) { return x / 2; }\n__device__ float own(float x) { return x; }\n"
      "__global__ void k(float* out, const float* x, int n) { if (threadIdx.x < n) out[0] = own(twice(x[0])); }\n"
      "void scale(float* out, const float* x, int n) { k<<<1, SIZE>>>(out, x, n); }\n";
  const std::string others =
      "__global__ void other(float* x) { x[0] = half(twice(x[0])); }\nvoid call_other(float* x) { other<<<1, 1>>>(x); "
      "}\n"
      "void train(float* out, const float* x, int n) { scale(out, x, n); }\n";
  const auto shared = [](const std::string& text) {
    std::string names;
    const auto sliced = source::Slice({"/", "scale.cu", text}, "scale");
    for (const auto& found : std::get<source::Slices>(*sliced).build_dependence)
      if (found.use.kind == core::CodeUseKind::kShared || found.use.kind == core::CodeUseKind::kOutside)
        names += std::string(core::Name(found.use.kind)) + found.use.detail.substr(0, found.use.detail.find(' ')) +
                 " " + found.instruction + "\n";
    return names;
  };
  EXPECT_EQ(shared(helpers), "");
  EXPECT_EQ(shared(helpers + others), "outside:half call_other\noutside:other call_other\nshared:twice call_other\n");
}

}  // namespace
}  // namespace warpwright
