// What NVRTC and the host compiler get of a macro: its text as the user wrote it, or nothing of it. Only a body that is
// a list of declarations is cut, at their ends. The files cases/macro_*.cu are recorded and compiled in addition.
#include "source/macros.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "source/slice.h"

namespace warpwright {
namespace {

source::Slices SlicesOf(const std::string& text, const std::string& entry = "run") {
  const auto sliced = source::Slice({"/tmp", "ww-macros.cu", text}, entry);
  if (!sliced) throw std::runtime_error(sliced.error().Format());
  if (const auto* refused = std::get_if<core::Refused>(&*sliced)) throw std::runtime_error(refused->reason);
  return std::get<source::Slices>(*sliced);
}

struct Statements {
  const char* name;
  const char* definitions;
  const char* use;           // in a kernel
  const char* outside = "";  // where declarations are
};
const Statements kStatements[] = {
    {"GuardAfterConstant", "#define SETUP const int i = blockIdx.x * 256 + threadIdx.x; if (i >= n) return\n",
     "SETUP; x[i] = 1;"},
    {"GuardAfterVariable", "#define SETUP int i = threadIdx.x; if (i >= n) return\n", "SETUP; x[i] = 1;"},
    {"FunctionLikeOfSeveralLines",
     "#define SETUP(i, count)                    \\\n"
     "  const long i = (long)blockIdx.x * 256;   \\\n"
     "  if (i >= (count)) return\n",
     "SETUP(i, n); x[i] = 1;"},
    {"CommentOfSeveralLines", "#define SETUP int i = 1; /* of\n   two lines */ if (i >= n) return\n",
     "SETUP; x[i] = 1;"},
    {"EndsInABlock", "#define SETUP int i = 0; if (n > 1) { i = 1; }\n", "SETUP x[i] = 1;"},
    {"CallAndBlock", "#define EACH(i) for (int i = 0; i < n; ++i)\n#define CLEAR x[0] = 1; EACH(i) { x[i] = 0; }\n",
     "CLEAR"},
    {"CallsOnly", "#define STEP first(x); second(x)\n", "STEP;"},
    {"Cases", "#define CASE(v) case v: x[0] = v; break\n", "switch (n) { CASE(1); CASE(2); }"},
    {"Pastes", "#define SHOW(v) int shown_##v = v; printf(#v \" is %d; }\", shown_##v)\n", "SHOW(n);"},
    {"LocalType", "#define LOCAL struct L { int f() { return 1; } }; L l; int m = l.f();\n", "LOCAL x[m] = 1;"},
    {"LocalLambda", "#define LOCAL auto f = [&](int i) { x[i] = 0; }; f(0); f(1)\n", "LOCAL;"},
    {"OpensABlock", "#define OPEN if (n > 1) { int i = 0; x[i] = 1;\n#define SHUT i = 2; }\n", "OPEN SHUT x[0] = 1;"},
    {"ClosesAndOpens", "#define OTHERWISE x[0] = 1; } else { int i = 0; x[i] = 2;\n", "if (n > 1) { OTHERWISE }"},
    {"Variables", "#define STATE(T) T value_##T = 0; int count_##T = 0;\n", "STATE(float) x[0] = value_float;",
     "STATE(double)\n"},
    {"StatementsOfAnother", "#define SETUP int i = threadIdx.x; if (i >= n) return\n#define BODY SETUP; x[i] = 1\n",
     "BODY;"},
};

class MacroOfStatements : public testing::TestWithParam<Statements> {};

TEST_P(MacroOfStatements, IsTheUsersOrIsLeftOut) {
  const Statements& macro = GetParam();
  const source::Slices slices = SlicesOf(std::string(macro.definitions) + macro.outside +
                                         "__device__ void first(float* x) {}\n__device__ void second(float* x) {}\n"
                                         "__global__ void k(float* x, int n) { " +
                                         macro.use + " }\nvoid run(float* x, int n) { k<<<1, 64>>>(x, n); }\n");
  EXPECT_NE(slices.device.find(macro.definitions), std::string::npos) << slices.device;
  EXPECT_NE(slices.device.find(macro.use), std::string::npos) << slices.device;
  if (slices.host.find(macro.definitions) == std::string::npos) {
    EXPECT_EQ(slices.host.find("#define"), std::string::npos) << slices.host;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, MacroOfStatements, testing::ValuesIn(kStatements),
                         [](const auto& info) { return std::string(info.param.name); });

// One that makes a kernel and its launcher loses the launcher on the device and the body on the host; the one that it
// invokes there is whole.
constexpr const char* kMap =
    "#define SETUP(i, n) const int i = threadIdx.x; if (i >= (n)) return\n"
    "#define MAP(name, expression)                                  \\\n"
    "  __global__ void name##_k(float* x, int n) {                  \\\n"
    "    SETUP(i, n);                                               \\\n"
    "    x[i] = (expression);                                       \\\n"
    "  }                                                            \\\n"
    "  void name(float* x, int n) { name##_k<<<1, 64>>>(x, n); }\n"
    "MAP(twice, 2 * x[i])\n";

TEST(Macros, ThatMakeAKernelAndItsLauncherAreCutAtTheEndsOfTheFunctions) {
  const source::Slices slices = SlicesOf(kMap, "twice");
  const std::string map = kMap;
  const size_t launcher = map.find("  void name(float");
  EXPECT_NE(slices.device.find(map.substr(0, launcher)), std::string::npos) << slices.device;
  EXPECT_EQ(slices.device.find("<<<"), std::string::npos) << slices.device;
  EXPECT_EQ(slices.host.find("expression)  "), slices.host.find("expression)")) << slices.host;
  EXPECT_NE(slices.host.find("::ww::Launch(ww_kernel, x, n)"), std::string::npos) << slices.host;
}

struct Invocation {
  const char* macros;
  const char* name;
  bool declares;
  int balance;
  bool scope;
};
const Invocation kInvocations[] = {
    {"#define A int a; int b;\n", "A", true, 0, false},
    {"#define A do { x(); } while (0)\n", "A", false, 0, false},
    {"#define A(n) B(n) B(n)\n#define B(n) int n;\n", "A", true, 0, false},
    {"#define A A\n", "A", false, 0, false},
    {"#define A(B) B(1)\n#define B(n) int n;\n", "A", false, 0, false},
    {"#define A namespace a::b {\n", "A", false, 1, true},
    {"#define A namespace a { namespace {\n", "A", false, 2, true},
    {"#define A extern \"C\" {\n", "A", false, 1, true},
    {"#define A struct S {\n", "A", false, 1, false},
    {"#define A namespace a { struct S {\n", "A", false, 2, false},
    {"#define A __global__ void k() { if (1) {\n", "A", false, 2, false},
    {"#define A } }\n", "A", false, -2, false},
    {"#define A(n) {\n", "A", false, 0, false},  // not invoked without its arguments
};

TEST(Macros, WhatAnInvocationIs) {
  for (const Invocation& row : kInvocations) {
    const std::vector<source::Token> tokens = source::Lex(row.macros), use = source::Lex(row.name);
    source::MacroTable table;
    for (source::Macro& macro : source::FindMacros(tokens, "a.cu", {})) table.Add(std::move(macro));
    EXPECT_EQ(table.Declares(row.name), row.declares) << row.macros;
    EXPECT_EQ(table.BraceBalance(use, 0), row.balance) << row.macros;
    EXPECT_EQ(table.BraceBalance(use, 0) > 0 && table.OpensScope(row.name), row.scope) << row.macros;
  }
}

// The branch that is compiled decides.
TEST(Macros, TheActiveDefinitionCounts) {
  const std::string text = "#define A {\n#define A namespace a { namespace b {\n";
  const std::vector<source::Token> tokens = source::Lex(text), use = source::Lex("A");
  const auto first_line = static_cast<uint32_t>(text.find('\n'));
  source::MacroTable table;
  for (source::Macro& macro : source::FindMacros(tokens, "a.cu", {{0, first_line}})) table.Add(std::move(macro));
  EXPECT_EQ(table.BraceBalance(use, 0), 2);
  EXPECT_TRUE(table.OpensScope("A"));
}

// What a launcher launches for some sizes alone is compiled with the rest: all sizes then have one module.
TEST(Slice, NamesTheInstancesThatALauncherNames) {
  const std::string text = R"(
template <int kWidth, bool kAligned> __global__ void map(float* y) { y[kWidth] = kAligned; }
template <typename T> __global__ void typed(T* y) { *y = 0; }
template <typename T, int kWidth> __global__ void deduced(T* y) { y[kWidth] = 0; }
__global__ void plain(float* y) { *y = 1; }
template <int kWidth> void of(float* y) { map<kWidth, true><<<1, 1>>>(y); }
void run(float* y, int n) {
  plain<<<1, 1>>>(y);
  if (n % 8 == 0) map<8, true><<<1, 1>>>(y);
  else if (n > 3) map<1, false><<<1, 1>>>(y);
  else map<1, false><<<2, 1>>>(y);
  typed<float><<<1, 1>>>(y);
  deduced<float, 4><<<1, 1>>>(y);
  of<2>(y);
}
)";
  EXPECT_EQ(SlicesOf(text).kernels, (std::vector<std::string>{"plain", "map<8, true>", "map<1, false>"}));
}

}  // namespace
}  // namespace warpwright
