// What a model's edit leaves behind is no part of what is proposed.
#include "rewrite/finish_edit.h"

#include <gtest/gtest.h>

#include "source/splice.h"

namespace warpwright::rewrite {
namespace {

constexpr const char* kOriginal = R"(#include <cuda_runtime.h>

#define BLOCK 256

// Sums rows, one thread per row: the matrix is row-major.
__global__ void row_sum_kernel(float* out, const float* in, int rows, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int spare = 3;
  if (row >= rows) return;
  float s = 0;
  for (int i = 0; i < n; ++i) s += in[row * n + i];
  out[row] = s;
}

void row_sum(float* out, const float* in, int rows, int n) {
  row_sum_kernel<<<(rows + BLOCK - 1) / BLOCK, BLOCK>>>(out, in, rows, n);
}
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

core::SpliceRequest Request(const std::string& edited) {
  return {.original = {"/tmp", "ww-finish.cu", kOriginal},
          .edited = edited,
          .entry = "row_sum",
          .keeps_comments = false,
          .finishes = true};
}
std::string Finished(const std::string& edited) { return FinishEdit(Request(edited)); }

const std::string kLoop = "  for (int i = 0; i < n; ++i) s += in[row * n + i];\n";
const std::string kEdited = Replaced(kOriginal, kLoop, "  for (int i = n; i-- > 0;) s += in[row * n + i];\n");

TEST(FinishEdit, FunctionsAndMacrosThatNothingUsesGo) {
  const std::string kernel = "// Sums rows,";
  const std::string unused =
      "#define WARP 32\n#define HALF (WARP / 2)\n\nusing Vector = float4;\n\n"
      "// Adds over a warp.\n__device__ float warp_sum(float s) {\n  return s + HALF + least(s);\n}\n\n"
      "__device__ float least(float s) { return s; }\n\n";
  EXPECT_EQ(Finished(Replaced(kEdited, kernel, unused + kernel)), kEdited);
  const std::string used = Replaced(kEdited, "s += in[row", "s += HALF + in[row");
  EXPECT_EQ(Finished(Replaced(used, kernel, "#define WARP 32\n#define HALF (WARP / 2)\n\n" + kernel)),
            Replaced(used, kernel, "#define WARP 32\n#define HALF (WARP / 2)\n\n" + kernel));
  const std::string configures = "#define CUB_STDERR\n" + kEdited;
  EXPECT_EQ(Finished(configures), configures) << "the header behind it may read it";
}

TEST(FinishEdit, VariablesThatNothingUsesGo) {
  for (const char* unused : {"const int twice = 2 * n;", "float part[4] = {};", "__shared__ float tile[32][33];",
                             "int a;", "const float first = in[0];  // of the row", "float4 v = {0, 0, 0, 0};",
                             "const float4* in4 = reinterpret_cast<const float4*>(in);", "int a = 1;\n  int b = a + a;",
                             "#pragma unroll 1\n  for (int k = 0; k < n; ++k) {\n    int a = k;\n    s += k;\n  }"}) {
    const bool in_loop = std::string_view(unused).find("pragma") != std::string_view::npos;
    const std::string expected =
        in_loop ? Replaced(kEdited, "  float s = 0;\n",
                           "  float s = 0;\n  #pragma unroll 1\n  for (int k = 0; k < n; ++k) {\n    s += k;\n  }\n")
                : kEdited;
    EXPECT_EQ(Finished(Replaced(kEdited, "  float s = 0;\n", "  float s = 0;\n  " + std::string(unused) + "\n")),
              expected);
  }
}

// A name is used where it is seen: another block has another variable.
TEST(FinishEdit, AVariableIsUsedWithinItsBlock) {
  const std::string used = "  {\n    const int a = 2 * n;\n    s += a;\n  }\n",
                    unused = "  {\n    const int a = 2 * n;\n    s += n;\n  }\n";
  const auto with = [](const std::string& blocks) {
    return Replaced(kEdited, "  float s = 0;\n", "  float s = 0;\n" + blocks);
  };
  EXPECT_EQ(Finished(with(used + unused)), with(used + "  {\n    s += n;\n  }\n"));
  EXPECT_EQ(Finished(with("  const int a = 3;\n" + used)), with("  const int a = 3;\n" + used)) << "it may be this one";
}

TEST(FinishEdit, WhatIsUsedOrHasAnEffectStays) {
  for (const char* stays : {"const int a = atomicAdd(out, 1);",
                            "const int a = n++;",
                            "const int a = s = 3;",
                            "int a = 1, b = a;",
                            "volatile int a = n;",
                            "const float a = warp::sum<32>(s);",
                            "if (n > 3) return;",
                            "s = 3;",
                            "s += warpSize;",
                            "s -= warpSize;",
                            "s *= warpSize;",
                            "out[0] = 3;",
                            "const int a = 1;\n  s += a;",
                            "const int a = 1;\n#define SUM(x) (x + a)\n  s = SUM(s);",
                            "__syncthreads();",
                            "asm volatile(\"\" : \"=f\"(s));",
                            "auto add = [&](float x) { s += x; };",
                            "return;",
                            "s++;",
                            "struct Pair {\n    int a;\n    int b;\n  } pair;\n  s += pair.a;",
                            "struct alignas(8) {\n    int a;\n    int b;\n  } pair;\n  s += pair.a;"}) {
    const std::string text = Replaced(kEdited, "  float s = 0;\n", "  float s = 0;\n  " + std::string(stays) + "\n");
    EXPECT_EQ(Finished(text), text);
  }
  EXPECT_EQ(Finished(kOriginal), kOriginal) << "what the original does not use is its own";
}

TEST(FinishEdit, RemarksOnThreadsGoWhereThreadsAreMappedAnew) {
  EXPECT_NE(Finished(kEdited).find("one thread per row"), std::string::npos) << "it still is";
  const std::string remapped = Replaced(
      Replaced(kEdited, "const int row = blockIdx.x * blockDim.x + threadIdx.x;", "const int row = blockIdx.x;"),
      "for (int i = n; i-- > 0;)", "for (int i = threadIdx.x; i < n; i += blockDim.x)");
  EXPECT_NE(Finished(remapped).find("// Sums rows: the matrix is row-major.\n"), std::string::npos)
      << Finished(remapped);
  const std::string told = Replaced(remapped, "one thread per row", "each thread takes columns of a row");
  EXPECT_NE(Finished(told).find("each thread takes columns of a row"), std::string::npos) << "the edit says so itself";
}

TEST(FinishEdit, WhatIsFinishedCanBeSpliced) {
  const std::string edited = Replaced(Replaced(kEdited, "// Sums rows,", "#define WARP 32\n\n// Sums rows,"),
                                      "  float s = 0;\n", "  int a;\n  float s = 0;\n");
  core::SpliceRequest request = Request(edited);
  request.edited = FinishEdit(request);
  const auto spliced = source::Splice(request);
  ASSERT_TRUE(spliced) << spliced.error().Format();
  const auto* rewritten = std::get_if<core::Rewritten>(&*spliced);
  ASSERT_NE(rewritten, nullptr) << std::get<core::Refused>(*spliced).reason;
  EXPECT_EQ(rewritten->text, kEdited);
}

TEST(FinishEdit, WhatCannotBeReadStaysAsItIs) {
  for (const char* text : {"", "}", "void other() {}", "void row_sum(", "#include \"nowhere.h\"\n"})
    EXPECT_EQ(Finished(text), text);
}

}  // namespace
}  // namespace warpwright::rewrite
