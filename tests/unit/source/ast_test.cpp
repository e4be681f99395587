#include "source/ast.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "source/build_dependence.h"

namespace warpwright {
namespace {

source::Ast ParseText(const std::string& text) {
  auto parsed = source::Ast::Parse({"/tmp", "warpwright-test-file.cu", text});
  if (!parsed) throw std::runtime_error(parsed.error().Format());
  return std::move(*parsed);
}

TEST(Ast, FindsKernelsAndLaunchersInNamespacesAndTemplates) {
  const source::Ast parsed = ParseText(R"(
#include <cuda_runtime.h>
#include <cuda_fp16.h>
namespace a { namespace {
template <typename T, int N>
__global__ void scale(T* x, float s, int n) {
  __shared__ float tile[N];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = T(float(x[i]) * s + tile[0]);
}
}
void launch(half* x, int n) { scale<half, 32><<<n, 32>>>(x, 2.f, n); }
}
extern "C" void plain(float* x, int n) { a::scale<float, 1><<<1, 1>>>(x, 1.f, n); }
static __device__ float helper(float x) { return x; }
)");
  EXPECT_EQ(parsed.Diagnostics(), std::vector<std::string>());
  const auto kernels = source::ast::Kernels(parsed);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(source::ast::QualifiedName(kernels[0]), "a::scale");
  EXPECT_EQ(source::ast::Line(kernels[0]), 6);
  EXPECT_EQ(source::ast::EndLine(kernels[0]), 10);
  EXPECT_EQ(source::ast::Parameters(kernels[0]).size(), 3u);
  EXPECT_EQ(source::ast::TemplateParameters(kernels[0]).size(), 2u);
  EXPECT_TRUE(source::ast::Text(parsed, source::ast::Body(kernels[0])).starts_with("{\n  __shared__"));
  ASSERT_TRUE(source::ast::FindFunction(parsed, "launch"));
  EXPECT_EQ(source::ast::QualifiedName(*source::ast::FindFunction(parsed, "a::launch")), "a::launch");
  EXPECT_EQ(source::ast::QualifiedName(*source::ast::FindFunction(parsed, "plain")), "plain");
  EXPECT_TRUE(source::ast::IsDevice(*source::ast::FindFunction(parsed, "helper")));
  EXPECT_FALSE(source::ast::IsHost(*source::ast::FindFunction(parsed, "helper")));
  EXPECT_FALSE(source::ast::FindFunction(parsed, "absent"));
}

TEST(Ast, KeepsStatementsThatStartWithAMacro) {
  const source::Ast parsed = ParseText(
      "#define LOAD(p, i) p[i]\n"
      "__global__ void k(float* x) {\n"
      "  __shared__ float a[32];\n"
      "  extern __shared__ float dynamic[];\n"
      "  float v = LOAD(x, 3);\n"
      "  a[threadIdx.x] = v;\n"
      "}\n");
  const auto kernel = source::ast::FindFunction(parsed, "k");
  ASSERT_TRUE(kernel);
  const auto statements = source::ast::Children(source::ast::Body(*kernel));
  ASSERT_EQ(statements.size(), 4u);
  EXPECT_EQ(source::ast::Text(parsed, statements[0]), "__shared__ float a[32];");
  EXPECT_EQ(source::ast::Text(parsed, statements[2]), "float v = LOAD(x, 3);");
  EXPECT_TRUE(source::ast::IsInMainFile(statements[0]));
}

TEST(Ast, SeesMacroMadeKernelsAtTheirInvocation) {
  const source::Ast parsed = ParseText(
      "#define MAKE(name, T) __global__ void name(T* x) { x[0] = 0; }\n"
      "MAKE(first, float)\n"
      "MAKE(second, double)\n");
  const auto kernels = source::ast::Kernels(parsed);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(source::ast::Spelling(kernels[1]), "second");
  EXPECT_TRUE(source::ast::IsFromMacro(kernels[1]));
  EXPECT_EQ(source::ast::Text(parsed, kernels[1]), "MAKE(second, double)");
}

TEST(Ast, SurvivesErrorsAndUnknownHeaders) {
  const source::Ast parsed = ParseText(
      "#include <torch/extension.h>\n#include \"absent.h\"\n"
      "__global__ void k(unknown_t* x) { x[threadIdx.x] = undefined_call(3) + ; }\n"
      "void launch(float* x) { k<<<1, 32>>>(x); }\n");
  EXPECT_FALSE(parsed.Diagnostics().empty());
  EXPECT_EQ(source::ast::Kernels(parsed).size(), 1u);
  EXPECT_TRUE(source::ast::FindFunction(parsed, "launch"));
}

TEST(Ast, ReadsRepositoryHeadersAndNothingElse) {
  auto folder = base::TemporaryDirectory::Create("ww-ast");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / "repo/include/common.cuh",
                                        "#pragma once\n#include \"deep/inner.h\"\n"));
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / "repo/include/deep/inner.h", "struct Inner { int x; };\n"));
  ASSERT_TRUE(base::WriteFileAtomically(folder->path() / "outside.h", "struct Outside { int x; };\n"));
  std::filesystem::create_symlink(folder->path() / "outside.h", folder->path() / "repo/link.h");
  const auto parsed =
      source::Ast::Parse({(folder->path() / "repo").string(), "kernels/k.cu",
                          "#include \"common.cuh\"\n#include \"../../outside.h\"\n#include \"../link.h\"\n"
                          "#include \"/etc/passwd\"\n__global__ void k(Inner i, Outside o) {}\n"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->tree().files.size(), 3u);
  EXPECT_TRUE(parsed->tree().files.count("include/deep/inner.h"));
  ASSERT_EQ(source::ast::Kernels(*parsed).size(), 1u);
  std::string all;
  for (const auto& message : parsed->Diagnostics()) all += message + "\n";
  EXPECT_EQ(all.find("Inner"), std::string::npos) << all;
  EXPECT_NE(all.find("Outside"), std::string::npos) << all;
}

TEST(Ast, ReportsInactiveBranches) {
  const std::string text = "#if __CUDA_ARCH__ < 800\nint old;\n#else\nint current;\n#endif\n";
  const source::Ast parsed = ParseText(text);
  const auto inactive = parsed.InactiveRanges("warpwright-test-file.cu");
  ASSERT_EQ(inactive.size(), 1u);
  EXPECT_LE(inactive[0].begin, text.find("int old"));
  EXPECT_LE(inactive[0].end, text.find("int current"));
}

TEST(Ast, KnowsWhereTextDependsOnTheBuild) {
  struct Row {
    const char *text, *use, *instruction;
    int line;
  };
  const Row rows[] = {
      {"int f() { return 1; }", "", "", 0},
      {"#ifdef __CUDACC__\nint f();\n#endif\n// __CUDA_ARCH__ in a comment, \"__DATE__\" in a string\nconst char* s = "
       "\"__DATE__\";",
       "", "", 0},
      {"\nint f() { return __CUDA_ARCH__; }", "build: __CUDA_ARCH__", "__CUDA_ARCH__", 2},
      {"#if defined(__CUDACC_RTC__)\n#endif\n", "build: __CUDACC_RTC__", "__CUDACC_RTC__", 1},
      {"const char* day = __DATE__;", "build: __DATE__", "__DATE__", 1},
      {"#define P(a, b) a##b\nint f() { return P(__CUDA_A, RCH__); }", "build: __CUDA_A", "__CUDA_A", 2},
      {"#define P(a, b) a##b\nint f() { return P(_, _CUDA_ARCH__); }", "build: _", "_", 2},
      {"#define P(a, b) a##b\nint f() { return P(1, 2); }", "", "", 0},
      {"#ifdef FAST\n  int f() { return 2; }\n#endif\n", "build: text", "int f() { return 2; }", 2},
      {"struct __nv_bfloat162 { int x; };\nint f(__nv_bfloat162 pair) { return pair.x; }", "", "", 0},
      {"#if 0\n// nothing but a comment\n#endif\n", "", "", 0},
  };
  for (const Row& row : rows) {
    const auto uses = source::FindBuildDependence(ParseText(row.text));
    if (*row.use == '\0') {
      EXPECT_TRUE(uses.empty()) << row.text << ": " << core::Text(uses.begin()->use);
      continue;
    }
    const auto found = std::find_if(
        uses.begin(), uses.end(), [&](const core::FoundUse& use) { return core::Text(use.use).starts_with(row.use); });
    ASSERT_NE(found, uses.end()) << row.text;
    EXPECT_EQ(found->instruction, row.instruction);
    EXPECT_EQ(found->line, row.line) << row.text;
  }
  const std::string left_out = "\n#if 0\nint f();\n#endif\n";
  EXPECT_EQ(source::FindBuildDependence(ParseText(left_out)).begin()->use,
            source::FindBuildDependence(ParseText("\n\n" + left_out)).begin()->use);
}

}  // namespace
}  // namespace warpwright
