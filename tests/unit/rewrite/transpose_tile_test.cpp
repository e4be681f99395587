#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;
using rewrite_test::CompileError;

const std::string kIndices =
    "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n";

std::string TransposeSource(
    const std::string& body,
    const std::string& launch = "k<<<dim3((C + 15) / 16, (R + 15) / 16), dim3(16, 16)>>>(o, a, R, C);",
    const std::string& type = "float") {
  return "__global__ void k(" + type + "* o, const " + type + "* a, int R, int C) {\n" + body + "}\nvoid run(" + type +
         "* o, const " + type + "* a, int R, int C) {\n  " + launch + "\n}\n";
}

TEST(TransposeTile, OfTheExample) {
  const std::string result = rewrite_test::ApplyToExample("transpose_tile", "src/transpose.cu", "transpose");
  EXPECT_EQ(rewrite_test::AddedLines(rewrite_test::ReadExample("src/transpose.cu"), result),
            "  // Through a tile in shared memory, reads and writes are both to neighbouring addresses.\n"
            "  constexpr int kTile = 32, kRows = 8;  // a block has 32 x 8 threads\n"
            "  __shared__ float tile[kTile][kTile + 1];  // one column more: columns are read without bank conflicts\n"
            "  int x = blockIdx.x * kTile + threadIdx.x;\n"
            "  int y = blockIdx.y * kTile + threadIdx.y;\n"
            "  for (int j = 0; j < kTile; j += kRows) {\n"
            "    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = inp[(y + j) * cols + x];\n"
            "  __syncthreads();\n"
            "  x = blockIdx.y * kTile + threadIdx.x;\n"
            "  y = blockIdx.x * kTile + threadIdx.y;\n"
            "  for (int j = 0; j < kTile; j += kRows) {\n"
            "    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];\n"
            "  }\n"
            "  dim3 block(32, 8);\n"
            "  dim3 grid((cols + 31) / 32, (rows + 31) / 32);\n");
  EXPECT_EQ(CompileError(result, "transpose", "src/transpose.cu"), "");
}

TEST(TransposeTile, Applies) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"strided reads",
       TransposeSource(kIndices + "  if (x < R && y < C) o[y * R + x] = a[x * C + y];\n",
                       "k<<<dim3((R + 15) / 16, (C + 15) / 16), dim3(16, 16)>>>(o, a, R, C);"),
       "k<<<dim3((R + 31) / 32, (C + 31) / 32), dim3(32, 8)>>>(o, a, R, C);"},
      {"early return", TransposeSource(kIndices + "  if (x >= C || y >= R) return;\n  o[x * R + y] = a[y * C + x];\n"),
       "dim3(32, 8)"},
      {"nested guards",
       TransposeSource(kIndices + "  if (x < C) {\n    if (y < R) o[x * R + y] = a[y * C + x];\n  }\n"), "dim3(32, 8)"},
      {"a function of the element",
       TransposeSource(kIndices + "  if (x < C && y < R) o[x * R + y] = 2.0f * a[y * C + x] + R;\n"),
       "= 2.0f * a[(y + j) * C + x] + R;"},
      {"64 bits", TransposeSource(kIndices + "  if (x < C && y < R) o[(size_t)x * R + y] = a[(size_t)y * C + x];\n"),
       "a[static_cast<size_t>(y + j) * C + x]"},
      {"offsets in variables",
       TransposeSource(kIndices + "  int from = y * C + x, to = x * R + y;\n  if (x < C && y < R) o[to] = a[from];\n"),
       "a[(y + j) * C + x]"},
      {"half",
       "#include <cuda_fp16.h>\n" +
           TransposeSource(kIndices + "  if (x < C && y < R) o[x * R + y] = a[y * C + x];\n",
                           "k<<<dim3((C + 15) / 16, (R + 15) / 16), dim3(16, 16)>>>(o, a, R, C);", "__half"),
       "__shared__ __half tile[kTile][kTile + 1];"},
      {"exchanged axes of the grid",
       TransposeSource(
           "  int y = blockIdx.x * blockDim.x + threadIdx.x;\n  int x = blockIdx.y * blockDim.y + threadIdx.y;\n  "
           "if (x < C && y < R) o[x * R + y] = a[y * C + x];\n",
           "k<<<dim3((R + 15) / 16, (C + 15) / 16), dim3(16, 16)>>>(o, a, R, C);"),
       "k<<<dim3((R + 31) / 32, (C + 31) / 32), dim3(32, 8)>>>"},
  };
  for (const auto& [name, source, expected] : rows) {
    const std::string result = Apply("transpose_tile", source);
    EXPECT_NE(result.find(expected), std::string::npos) << name << ":\n" << result;
    EXPECT_EQ(CompileError(result), "") << name;
  }
}

TEST(TransposeTile, Refuses) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"a copy", TransposeSource(kIndices + "  if (x < C && y < R) o[y * C + x] = a[y * C + x];\n"),
       "not those of a transposition"},
      {"another pitch", TransposeSource(kIndices + "  if (x < C && y < R) o[x * (R + 1) + y] = a[y * C + x];\n"),
       "not those of a transposition"},
      {"exchanged bounds", TransposeSource(kIndices + "  if (x < R && y < C) o[x * R + y] = a[y * C + x];\n"),
       "not those of a transposition"},
      {"two reads", TransposeSource(kIndices + "  if (x < C && y < R) o[x * R + y] = a[y * C + x] + a[0];\n"),
       "more than one element"},
      {"in place", TransposeSource(kIndices + "  if (x < C && y < R) o[x * R + y] = o[y * C + x];\n"), "REFUSED"},
      {"the index as a value", TransposeSource(kIndices + "  if (x < C && y < R) o[x * R + y] = a[y * C + x] * x;\n"),
       "depends on more"},
      {"no guard", TransposeSource(kIndices + "  o[x * R + y] = a[y * C + x];\n"), "has no bound"},
      {"one index", TransposeSource("  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  if (x < C) o[x] = a[x];\n"),
       "not two indices"},
      {"tiled already",
       TransposeSource("  __shared__ float t[16][17];\n" + kIndices +
                       "  t[threadIdx.y][threadIdx.x] = a[y * C + x];\n  __syncthreads();\n  o[x * R + y] = "
                       "t[threadIdx.y][threadIdx.x];\n"),
       "not two indices"},
  };
  for (const auto& [name, source, reason] : rows) {
    const std::string result = Apply("transpose_tile", source);
    EXPECT_TRUE(result.starts_with("REFUSED")) << name << ":\n" << result;
    EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
  }
}

}  // namespace
}  // namespace warpwright
