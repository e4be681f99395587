#include "source/splice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "source/inspect.h"

namespace warpwright {
namespace {

constexpr const char* kOriginal = R"(// A file with two entries.
#include <cuda_runtime.h>
#include <stdio.h>

#define BLOCK 256   // threads

/* Helper of both. */
__device__ float  square(float x)   { return x*x; }

// Sums rows.
__global__ void row_sum_kernel(float* out, const float* in, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += in[blockIdx.x * n + i];
  out[blockIdx.x] = s;
}

void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<rows, 1>>>(out, in, n);
}

__global__ void scale_kernel(float* x) { x[threadIdx.x] = square(x[threadIdx.x]); }
void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("not there: " + from);
  return text.replace(at, from.size(), to);
}

core::SpliceOutcome DoSplice(const std::string& edited, const std::string& entry = "row_sum",
                             const std::string& original = kOriginal, bool keeps_comments = false) {
  auto outcome = source::Splice({{"/tmp", "ww-splice.cu", original}, edited, entry, keeps_comments});
  if (!outcome) throw std::runtime_error(outcome.error().Format());
  return *outcome;
}
std::string Text(const core::SpliceOutcome& outcome) {
  const auto* rewritten = std::get_if<core::Rewritten>(&outcome);
  return rewritten == nullptr ? "refused: " + std::get<core::Refused>(outcome).reason : rewritten->text;
}
std::string Reason(const core::SpliceOutcome& outcome) {
  const auto* refused = std::get_if<core::Refused>(&outcome);
  return refused == nullptr ? "it was spliced" : refused->reason;
}

// What stands in front of a block of C linkage may be a template, which cannot stand in it.
TEST(Splice, WhatIsNewInFrontOfCLinkageStaysThere) {
  const std::string original = R"(// Sums.
#include <stddef.h>

extern "C" {

__global__ void row_sum_kernel(float* out, const float* in, int n) { out[blockIdx.x] = in[blockIdx.x * n]; }

void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<rows, 1>>>(out, in, n);
}
}
)";
  const std::string edited = R"(// Sums.
#include <stddef.h>

template <int kWidth>
__device__ float first(const float* in) { return in[kWidth - 1]; }

__global__ void row_first(float* out, const float* in, int n) {
  out[blockIdx.x] = first<1>(in + blockIdx.x * n);
}

extern "C" {

void row_sum(float* out, const float* in, int rows, int n) {
  row_first<<<rows, 1>>>(out, in, n);
}
}
)";
  EXPECT_EQ(Text(DoSplice(edited, "row_sum", original)), edited);
  // With the name of the one that it replaces.
  const std::string renamed =
      Replaced(Replaced(edited, "void row_first(", "void row_sum_kernel("), "row_first<<<", "row_sum_kernel<<<");
  EXPECT_EQ(Text(DoSplice(renamed, "row_sum", original)), renamed);
}

TEST(Splice, NothingChangedIsTheOriginal) { EXPECT_EQ(Text(DoSplice(kOriginal)), kOriginal); }

TEST(Splice, AnotherLayoutAndOtherCommentsAreNoChange) {
  std::string edited = Replaced(kOriginal, "return x*x;", "return x * x;");
  edited = Replaced(edited, "// Sums rows.", "// Sums all the rows.");
  EXPECT_EQ(Text(DoSplice(edited)), kOriginal);
}

TEST(Splice, ChangedKernelAndLauncherKeepEverythingElse) {
  const std::string edited = R"(#include <cuda_runtime.h>
#include <stdio.h>
#define BLOCK 256
__device__ float square(float x) { return x * x; }
__global__ void row_sum_kernel(float* out, const float* in, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += in[blockIdx.x * n + i];
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<rows, 32>>>(out, in, n);
}
__global__ void scale_kernel(float* x) { x[threadIdx.x] = square(x[threadIdx.x]); }
void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }
)";
  std::string expected = Replaced(kOriginal, "int i = 0; i < n; ++i)", "int i = threadIdx.x; i < n; i += 32)");
  expected = Replaced(expected, "  out[blockIdx.x] = s;",
                      "  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);\n  if (threadIdx.x == 0) "
                      "out[blockIdx.x] = s;");
  expected = Replaced(expected, "<<<rows, 1>>>", "<<<rows, 32>>>");
  EXPECT_EQ(Text(DoSplice(edited)), expected);
}

// A repository's .clang-format holds for what changed, and only for that.
TEST(Splice, ChangedLinesHaveTheRepositorysStyle) {
  const auto folder = base::TemporaryDirectory::Create("ww-splice");
  ASSERT_TRUE(folder);
  const auto splice = [&] {
    const std::string edited = Replaced(kOriginal, "out[blockIdx.x] = s;", "if (s != 0)   out[ blockIdx.x ]=s;");
    auto outcome = source::Splice({{folder->path().string(), "src/a.cu", kOriginal}, edited, "row_sum"});
    return outcome ? Text(*outcome) : outcome.error().Format();
  };
  std::string expected = Replaced(kOriginal, "out[blockIdx.x] = s;", "if (s != 0)   out[ blockIdx.x ]=s;");
  EXPECT_EQ(splice(), expected) << "without a file of styles only the width counts";
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / ".clang-format", "BasedOnStyle: Google\nIndentWidth: 2\n"));
  EXPECT_EQ(splice(), Replaced(kOriginal, "out[blockIdx.x] = s;", "if (s != 0) out[blockIdx.x] = s;"))
      << "square and its comment keep their blanks";
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / ".clang-format", "BasedOnStyle: Nobody\n"));
  EXPECT_EQ(splice(), expected) << "a file that is wrong keeps nothing back";
}

// Where no file says how wide lines are, what is added is no wider than the file was.
TEST(Splice, ChangedLinesAreNoWiderThanTheFileWas) {
  const auto folder = base::TemporaryDirectory::Create("ww-splice");
  ASSERT_TRUE(folder);
  const std::string wide =
      "printf(\"a text, that, is, not, broken\"), out[blockIdx.x] = s * scale_of(blockIdx.x, blockDim.x) + "
      "offset_of(gridDim.x, threadIdx.x);";
  const std::string edited = Replaced(kOriginal, "out[blockIdx.x] = s;",
                                      "// A comment that says in one line what the statement below does, and why it "
                                      "does it there and not elsewhere.\n  " +
                                          wide);
  const auto outcome = source::Splice({{folder->path().string(), "src/a.cu", kOriginal}, edited, "row_sum"});
  ASSERT_TRUE(outcome) << outcome.error().Format();
  const std::string text = Text(*outcome);
  const auto widest = [](const std::string& of) {
    std::istringstream lines(of);
    size_t most = 0;
    for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
    return most;
  };
  EXPECT_GT(widest(edited), widest(kOriginal));
  EXPECT_EQ(widest(text), widest(kOriginal)) << text;
  EXPECT_NE(text.find("\n  printf(\"a text, that, is, not, broken\"),\n      out[blockIdx.x] ="), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  // it there and"), std::string::npos) << text;
}

TEST(Splice, NewHelpersMacrosAndIncludesGoInFront) {
  std::string edited = Replaced(
      kOriginal, "// Sums rows.\n",
      "#define WARP 32\n\n// Adds over a warp.\n__device__ float warp_sum(float s) {\n"
      "  for (int o = WARP / 2; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);\n  return s;\n}\n\n// Sums rows.\n");
  edited = Replaced(edited, "#include <stdio.h>\n", "#include <stdio.h>\n#include <cooperative_groups.h>\n");
  edited = Replaced(edited, "out[blockIdx.x] = s;", "out[blockIdx.x] = warp_sum(s);");
  const std::string text = Text(DoSplice(edited));
  EXPECT_NE(text.find("#include <stdio.h>\n#include <cooperative_groups.h>\n"), std::string::npos) << text;
  EXPECT_NE(text.find("// Adds over a warp.\n__device__ float warp_sum(float s) {"), std::string::npos) << text;
  EXPECT_LT(text.find("#define WARP 32"), text.find("warp_sum(float s)"));
  EXPECT_LT(text.find("warp_sum(float s)"), text.find("// Sums rows."));
  EXPECT_NE(text.find("/* Helper of both. */\n__device__ float  square(float x)   { return x*x; }"), std::string::npos);
}

TEST(Splice, VariablesStandTogetherAndApartFromWhatFollows) {
  std::string edited = Replaced(
      kOriginal, "// Sums rows.\n",
      "#define WARP 32\nstatic __device__ float partials[WARP];\n\n// Reads them.\n__device__ float part(int i) {\n"
      "  return partials[i];\n}\n\n// Sums rows.\n");
  edited = Replaced(edited, "out[blockIdx.x] = s;", "out[blockIdx.x] = s + part(0);");
  const std::string text = Text(DoSplice(edited));
  EXPECT_NE(text.find("#define WARP 32\nstatic __device__ float partials[WARP];\n\n// Reads them.\n__device__ float"),
            std::string::npos)
      << text;
}

TEST(Splice, ReplacedKernelGoesAndTheNewOneTakesItsPlace) {
  std::string edited = kOriginal;
  for (int i = 0; i < 2; ++i) edited = Replaced(edited, "row_sum_kernel", "row_sum_by_warps");
  const std::string text = Text(DoSplice(edited));
  EXPECT_EQ(text.find("row_sum_kernel"), std::string::npos) << text;
  EXPECT_NE(text.find("__global__ void row_sum_by_warps("), std::string::npos) << text;
  EXPECT_NE(text.find("row_sum_by_warps<<<rows, 1>>>"), std::string::npos) << text;
  EXPECT_NE(text.find("scale_kernel<<<1, BLOCK>>>"), std::string::npos) << text;
}

TEST(Splice, SharedHelperMayChangeAndNewCodeInNamespaces) {
  const std::string original =
      "namespace a {\n__global__ void k(float* x) { *x = 1; }\n}\nvoid run(float* x) { a::k<<<1, 1>>>(x); }\n";
  const std::string edited =
      "namespace a {\n__device__ float one() { return 1; }\n__global__ void k(float* x) { *x = one(); }\n}\n"
      "namespace b { __global__ void second(float* x) { *x = 2; } }\n"
      "void run(float* x) { a::k<<<1, 1>>>(x); b::second<<<1, 1>>>(x); }\n";
  const std::string text = Text(DoSplice(edited, "run", original));
  EXPECT_NE(text.find("namespace a {\n__device__ float one() { return 1; }\n\n__global__ void k"), std::string::npos)
      << text;
  EXPECT_NE(text.find("namespace b {\n__global__ void second"), std::string::npos) << text;
}

TEST(Splice, OverloadsAndTemplatesKeepTheirPartner) {
  const std::string original =
      "__device__ float f(float x) { return x; }\n__device__ double f(double x) { return x; }\n"
      "template <typename T> __global__ void k(T* x) { *x = f(*x); }\nvoid run(float* x) { k<<<1, 1>>>(x); }\n";
  const std::string edited =
      Replaced(original, "double f(double x) { return x; }", "double f(double x) { return x + 0; }");
  EXPECT_EQ(Text(DoSplice(edited, "run", original)), edited);
}

TEST(Splice, RefusesEditsElsewhere) {
  EXPECT_EQ(
      Reason(DoSplice(Replaced(kOriginal, "{ scale_kernel<<<1, BLOCK>>>(x); }", "{ scale_kernel<<<2, BLOCK>>>(x); }"))),
      "the edit changes scale, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "return x*x;", "return x;"))),
            "the edit changes square, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "void scale(float* x) { scale_kernel<<<1, BLOCK>>>(x); }\n", ""))),
            "the edit removes scale, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "#define BLOCK 256", "#define BLOCK 128"))),
            "the edit changes #define BLOCK, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(std::string(kOriginal) + "float* global_state;\n")),
            "the edit adds global_state, which row_sum does not use");
  EXPECT_EQ(Reason(DoSplice(std::string(kOriginal) + "#if 1\n#endif\n")),
            "the edit changes preprocessor directives or inactive code");
}

TEST(Splice, RefusesAnotherSignature) {
  EXPECT_NE(Reason(DoSplice(Replaced(kOriginal, "int rows, int n) {\n  row", "int rows, long n) {\n  row")))
                .find("changes the signature of row_sum"),
            std::string::npos);
  EXPECT_EQ(Reason(DoSplice(Replaced(kOriginal, "void row_sum(", "void other("))), "the edited file has no row_sum");
}

TEST(Splice, RefusesWhatCannotBeSliced) {
  EXPECT_NE(Reason(DoSplice(Replaced(kOriginal, "  row_sum_kernel<<<rows, 1>>>(out, in, n);",
                                     "  cublasSasum(0, 0, 0, 0, 0);  row_sum_kernel<<<rows, 1>>>(out, in, n);")))
                .find("cuBLAS"),
            std::string::npos);
}

TEST(Splice, KeepsIncludesThatTheEditDropped) {
  std::string edited = Replaced(kOriginal, "#include <stdio.h>\n", "");
  edited = Replaced(edited, "<<<rows, 1>>>", "<<<rows, 1, 0>>>");
  EXPECT_EQ(Text(DoSplice(edited)), Replaced(kOriginal, "<<<rows, 1>>>", "<<<rows, 1, 0>>>"));
}

// The edit drops the include of "extra.cuh": the splice keeps it if it does not affect the entry.
struct KeptHeader {
  const char* name;
  const char* text;
  const char* refused;  // part of the reason; "": spliced
};
const KeptHeader kKeptHeaders[] = {
    {"OtherNames", "#pragma once\nstruct Other { int a; };\n__device__ float cube(float x) { return x * x * x; }\n",
     ""},
    {"Guard", "#ifndef _EXTRA_H_\n#define _EXTRA_H_\n#include <stdio.h>\n#define OTHER 3\n#endif\n", ""},
    {"Overload", "__device__ int add(int a, int b) { return a + b; }\n",
     "could change the device code ('__device__', line 1)"},
    {"Macro", "#define OTHER 3\n#define add other\n", "could change the device code ('add', line 2)"},
    {"MacroForSystemHeaders", "#define __CUDA_NO_HALF_OPERATORS__\n", "('__CUDA_NO_HALF_OPERATORS__', line 1)"},
    {"Undefined", "#undef BLOCK\n", "('BLOCK', line 1)"},
    {"Pragma", "#pragma pack(1)\n", "('pack', line 1)"},
    {"HostFunction", "int blocks(int n);\n", "could change the host code ('int', line 1)"},
};

class SpliceKept : public ::testing::TestWithParam<KeptHeader> {};

TEST_P(SpliceKept, Include) {
  const auto folder = base::TemporaryDirectory::Create("ww-splice-test");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / "extra.cuh", GetParam().text));
  const std::string original =
      "#include \"extra.cuh\"\n#define BLOCK 32\n__device__ float add(float a, float b) { return a + b; }\n"
      "__global__ void k(float* x) { *x = add(1, 2); }\nint blocks(long n) { return BLOCK; }\n"
      "void run(float* x) { k<<<blocks(2), BLOCK>>>(x); }\n";
  const std::string edited = Replaced(Replaced(original, "#include \"extra.cuh\"\n", ""), "add(1, 2)", "add(2, 2)");
  const auto outcome = source::Splice({{folder->path().string(), "a.cu", original}, edited, "run"});
  ASSERT_TRUE(outcome);
  if (GetParam().refused[0] == '\0') {
    EXPECT_EQ(Text(*outcome), Replaced(original, "add(1, 2)", "add(2, 2)"));
  } else {
    EXPECT_NE(Reason(*outcome).find(GetParam().refused), std::string::npos) << Reason(*outcome);
    EXPECT_NE(Reason(*outcome).find("drops the include of extra.cuh"), std::string::npos) << Reason(*outcome);
  }
}
INSTANTIATE_TEST_SUITE_P(Headers, SpliceKept, ::testing::ValuesIn(kKeptHeaders),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Splice, RefusesAnotherOrder) {
  const std::string original =
      "#define STEP 1\n__device__ float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(STEP); }\n"
      "void run(float* x) { k<<<1, 1>>>(x); }\n";
  // Unchanged declarations keep their position, so the macro would come too early.
  const std::string edited =
      "__device__ float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(STEP); }\n#define STEP 1\n"
      "void run(float* x) { k<<<1, 1>>>(x); }\n";
  EXPECT_EQ(Reason(DoSplice(edited, "run", original)),
            "put back into the original file, the edit does not give the same device code: it has '#' where the edited "
            "file has '__device__' (line 1); declarations may be in another order");
}

// A remark above a kernel that no longer holds goes, and one that explains the new kernel comes. An edit that has lost
// comments of what it does not change has lost them all.
TEST(Splice, AChangedDeclarationHasTheCommentOfTheEdit) {
  const std::string changed = Replaced(kOriginal, "float s = 0;", "float s = 0.0f;");
  for (const char* comment : {"", "// Sums rows, a warp for each.\n", "// One.\n// Two.\n"}) {
    const std::string edited = Replaced(changed, "// Sums rows.\n", comment);
    EXPECT_EQ(Text(DoSplice(edited)), edited);
  }
  const std::string bare = Replaced(Replaced(changed, "// Sums rows.\n", ""), "// A file with two entries.\n", "");
  EXPECT_EQ(Text(DoSplice(bare)), changed);
  // An edit of another version of the file does not know what has been written there since.
  const std::string other = Replaced(changed, "// Sums rows.", "// Another.");
  EXPECT_EQ(Text(DoSplice(other, "row_sum", kOriginal, true)), changed);
  EXPECT_EQ(Text(DoSplice(other, "row_sum", Replaced(kOriginal, "// Sums rows.\n", ""), true)), other);
}

TEST(Splice, ACommentInFrontOfAFileThatBeginsWithCode) {
  const std::string original = "__global__ void k(float* x) { *x = 1; }\nvoid run(float* x) { k<<<1, 1>>>(x); }\n";
  const std::string edited = "// Set.\n" + Replaced(original, "= 1", "= 2");
  EXPECT_EQ(Text(DoSplice(edited, "run", original)), Replaced(original, "= 1", "= 2"));
}

TEST(Splice, TakesTheBlankThatEndsAMacrosName) {
  const std::string original =
      "#define SCALE(x) (x)\n__global__ void k(float* x) { *x = SCALE(2); }\nvoid run(float* x) { k<<<1, 1>>>(x); }\n";
  const std::string edited = Replaced(original, "SCALE(x)", "SCALE (x)");
  EXPECT_EQ(Text(DoSplice(edited, "run", original)), edited);
}

}  // namespace
}  // namespace warpwright
