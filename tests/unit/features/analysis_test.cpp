#include "source/analysis.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "source/ast.h"

namespace warpwright {
namespace {

// The first kernel of a source, analyzed.
struct Kernel {
  explicit Kernel(const std::string& text)
      : ast(*source::Ast::Parse({std::filesystem::temp_directory_path().string(), "a.cu", text})),
        function(*source::BuildSyntax(source::ast::Kernels(ast).at(0))),
        analysis(function) {}
  source::Ast ast;
  source::SyntaxFunction function;
  source::FunctionAnalysis analysis;
};

std::string IndexOfFirst(const std::string& body) {
  const Kernel kernel("__global__ void k(float* out, const float* in, int n, int C) { " + body + " }");
  const auto accesses = kernel.analysis.Accesses();
  return accesses.empty()
             ? "none"
             : accesses[0].base.substr(0, accesses[0].base.find('@')) + "[" + accesses[0].index.ToString() + "]";
}

TEST(Analysis, IndicesAreFollowedThroughVariablesPointersAndCasts) {
  const std::pair<const char*, const char*> rows[] = {
      {"out[threadIdx.x] = 0;", "out[threadIdx.x]"},
      {"int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = 0;", "out[blockDim.x*blockIdx.x + threadIdx.x]"},
      {"int r = threadIdx.x; float* o = out + r * C; o[3] = 0;", "out[C*threadIdx.x + 3]"},
      {"*(out + 2 * threadIdx.x) = 0;", "out[2*threadIdx.x]"},
      {"out[(size_t)blockIdx.x * C + (int)threadIdx.x] = 0;", "out[C*blockIdx.x + threadIdx.x]"},
      {"float x = __ldg(&in[threadIdx.x + 1]);", "in[threadIdx.x + 1]"},
      {"float x = __ldg(in + 4);", "in[4]"},
      {"atomicAdd(&out[n], 1.f);", "out[n]"},
      {"for (int c = threadIdx.x; c < C; c += blockDim.x) out[c] = 0;", "out[blockDim.x*c + threadIdx.x]"},
      {"out[threadIdx.x << 2] = 0;", "out[4*threadIdx.x]"},
      {"reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(0, 0, 0, 0);", "out[4*threadIdx.x]"},
      {"*reinterpret_cast<float2*>(out + 2 * threadIdx.x) = make_float2(0, 0);", "out[2*threadIdx.x]"},
      {"const int k = 5; out[k * k] = 0;", "out[25]"},
      {"out[n / 2] = 0;", "out[{n / 2}]"},
  };
  for (const auto& [body, expected] : rows) EXPECT_EQ(IndexOfFirst(body), expected) << body;
}

TEST(Analysis, AVariableThatIsWrittenAgainKeepsItsName) {
  EXPECT_EQ(IndexOfFirst("int i = threadIdx.x; i += 2; out[i] = 0;"), "out[i]");
  EXPECT_EQ(IndexOfFirst("float* p = out; p++; p[0] = 0;"), "none");
}

TEST(Analysis, ADefinitionThatRefersToItselfEnds) {
  EXPECT_EQ(IndexOfFirst("int i = i + 1; out[i] = 0;").substr(0, 4), "out[");
}

TEST(Analysis, ReadsAndWrites) {
  const Kernel kernel(
      "__global__ void k(float* a, const float* b) { a[0] = b[1]; a[2] += 1; a[3]++; atomicMax((int*)a, 1); }");
  std::string text;
  for (const source::Access& access : kernel.analysis.Accesses())
    text += access.index.ToString() + (access.reads ? "r" : "") + (access.writes ? "w" : "") +
            (access.atomic ? "!" : "") + " ";
  EXPECT_EQ(text, "0w 1r 2rw 3rw 0rw! ");
}

TEST(Analysis, PointersThatEscapeAreReported) {
  const Kernel kernel(
      "__device__ void f(float* x); __global__ void k(float* a, float* b, float* c) { f(a); b[0] = 1; float* d = c; "
      "d[1] = 2; }");
  std::set<std::string> unresolved, names;
  kernel.analysis.Accesses(&unresolved);
  for (const std::string& symbol : unresolved) names.insert(symbol.substr(0, symbol.find('@')));
  EXPECT_EQ(names, std::set<std::string>{"a"});
}

TEST(Analysis, CountedLoops) {
  const std::tuple<const char*, const char*, int64_t> rows[] = {
      {"for (int i = 0; i < 10; i++) out[i] = 0;", "<", 10},
      {"for (int i = 0; i <= 10; i += 3) out[i] = 0;", "<=", 4},
      {"for (int i = 9; i >= 0; --i) out[i] = 0;", ">=", 10},
      {"for (int i = 0; 10 > i; i = i + 2) out[i] = 0;", "<", 5},
      {"for (int i = 5; i < 5; ++i) out[i] = 0;", "<", 0},
  };
  for (const auto& [body, relation, trips] : rows) {
    const Kernel kernel(std::string("__global__ void k(float* out) { ") + body + " }");
    const auto loop = kernel.analysis.Counted(*source::Collect(*kernel.function.body, source::NodeKind::kFor).at(0));
    ASSERT_TRUE(loop) << body;
    EXPECT_EQ(loop->relation, relation) << body;
    EXPECT_EQ(kernel.analysis.TripCount(*loop), trips) << body;
  }
  for (const char* body : {"for (;;) break;", "for (int i = 0; i < 10; i++) i += out[i];",
                           "for (int i = 0; i < 10; i *= 2) out[i] = 0;", "for (int i = 0; out[i] > 0; i++) ;"}) {
    const Kernel kernel(std::string("__global__ void k(float* out) { ") + body + " }");
    EXPECT_FALSE(kernel.analysis.Counted(*source::Collect(*kernel.function.body, source::NodeKind::kFor).at(0)))
        << body;
  }
}

TEST(Analysis, LoopsKeepFourPartsWhateverIsAbsent) {
  const Kernel kernel(
      "__global__ void k(float* out, int n) { int i = 0; for (; i < n /* ; */;) { i++; } for (i = 0;; ++i) break; }");
  const auto loops = source::Collect(*kernel.function.body, source::NodeKind::kFor);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_TRUE((*loops[0])[source::kLoopInit].Is(source::NodeKind::kEmpty));
  EXPECT_TRUE((*loops[0])[source::kLoopCondition].Is(source::NodeKind::kBinary, "<"));
  EXPECT_TRUE((*loops[0])[source::kLoopIncrement].Is(source::NodeKind::kEmpty));
  EXPECT_TRUE((*loops[1])[source::kLoopInit].Is(source::NodeKind::kAssign, "="));
  EXPECT_TRUE((*loops[1])[source::kLoopCondition].Is(source::NodeKind::kEmpty));
  EXPECT_TRUE((*loops[1])[source::kLoopIncrement].Is(source::NodeKind::kAssign, "++"));
}

TEST(Analysis, BoundsGuards) {
  const std::pair<const char*, int> rows[] = {
      {"if (i < n) out[i] = 0;", 1},
      {"if (i >= n) return;", 1},
      {"if (i < n && j < n) { out[i] = 0; }", 2},
      {"if (i >= n || j >= n) { return; }", 2},
      {"if (n > i) out[i] = 0;", 1},
      {"if (i < n) out[i] = 0; else out[0] = 0;", 0},
      {"if (i == n) return;", 0},
      {"if (i < n || j < n) out[i] = 0;", 0},
  };
  for (const auto& [body, limits] : rows) {
    const Kernel kernel(std::string("__global__ void k(float* out, int n) { int i = threadIdx.x, j = threadIdx.y; ") +
                        body + " }");
    const auto guard = source::AsBoundsGuard(*source::Collect(*kernel.function.body, source::NodeKind::kIf).at(0));
    EXPECT_EQ(guard ? static_cast<int>(guard->limits.size()) : 0, limits) << body;
  }
}

TEST(Analysis, LaunchPartsAreAlwaysFour) {
  const Kernel kernel(
      "__global__ void k(float* p, int n) { p[n] = 0; } void f(float* p, int n) { k<<<(n + 255) / 256, 256>>>(p, n); "
      "}");
  const auto host = source::BuildSyntax(*source::ast::FindFunction(kernel.ast, "f"));
  const auto launches = source::Collect(*host->body, source::NodeKind::kLaunch);
  ASSERT_EQ(launches.size(), 1u);
  const source::Node& launch = *launches[0];
  EXPECT_EQ(launch.name, "k");
  ASSERT_EQ(launch.size(), 6u);
  EXPECT_EQ(host->Text(launch[source::kLaunchGrid]), "(n + 255) / 256");
  EXPECT_TRUE(launch[source::kLaunchShared].Is(source::NodeKind::kEmpty));
  EXPECT_EQ(host->Text(launch[source::kLaunchArguments]), "p");
}

}  // namespace
}  // namespace warpwright
