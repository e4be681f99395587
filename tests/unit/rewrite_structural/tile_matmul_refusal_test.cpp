// Kernels that tile_matmul must refuse, each with the reason and the line.
#include <gtest/gtest.h>

#include "structural_test_support.h"

namespace warpwright {
namespace {

using namespace structural_test;

struct MatmulRefusal {
  std::string name;
  std::string body;  // after the guard; line 4 is its first line
  std::string reason;
};
std::ostream& operator<<(std::ostream& out, const MatmulRefusal& refusal) { return out << refusal.name; }

class TileMatmulRefuses : public testing::TestWithParam<MatmulRefusal> {};

TEST_P(TileMatmulRefuses, WithReasonAndLine) {
  const std::string source =
      R"(__global__ void k(float* c, const float* a, const float* b, const int* p, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y; int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
)" + GetParam().body +
      R"(}
void entry(float* c, const float* a, const float* b, const int* p, int M, int N, int K) {
  k<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, p, M, N, K);
}
)";
  const std::string text = Apply("tile_matmul", source, "entry");
  ASSERT_TRUE(text.starts_with("REFUSED: ")) << text;
  EXPECT_NE(text.find(GetParam().reason), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, TileMatmulRefuses,
    testing::Values(
        MatmulRefusal{"no_loop", "  c[row * N + col] = a[row * N + col];\n", "no loop that adds products"},
        MatmulRefusal{
            "squared_distance",
            "  float s = 0;\n  for (int i = 0; i < K; i++) {\n    float d = a[row * K + i] - b[col * K + i];\n    "
            "s += d * d;\n  }\n  c[row * N + col] = s;\n",
            "depends on the row and on the column: not a matrix product (line 7)"},
        MatmulRefusal{
            "maximum_instead_of_sum",
            "  float s = 0;\n  for (int i = 0; i < K; i++) s = fmaxf(s, a[row * K + i] * b[i * N + col]);\n  c[row "
            "* N + col] = s;\n",
            "the loop over i does not add products to one variable (line 5)"},
        MatmulRefusal{"sum_in_memory",
                      "  for (int i = 0; i < K; i++) c[row * N + col] += a[row * K + i] * b[i * N + col];\n",
                      "the sum is kept in memory"},
        MatmulRefusal{
            "bound_by_row",
            "  float s = 0;\n  for (int i = 0; i < row; i++) s += a[row * K + i] * b[i * N + col];\n  c[row * N + "
            "col] = s;\n",
            "the bounds of the loop over i differ between results (line 5)"},
        MatmulRefusal{
            "two_products",
            "  float s = 0, t = 0;\n  for (int i = 0; i < K; i++) s += a[row * K + i] * b[i * N + col];\n"
            "  for (int i = 0; i < K; i++) t += a[row * K + i] * b[i * N + col];\n  c[row * N + col] = s + t;\n",
            "a second loop: the kernel does more than one product (line 6)"},
        MatmulRefusal{
            "two_sums_in_one_loop",
            "  float s = 0, t = 0;\n  for (int i = 0; i < K; i++) {\n    s += a[row * K + i] * b[i * N + col];\n   "
            " t += a[row * K + i];\n  }\n  c[row * N + col] = s + t;\n",
            "the loop over i does more than add a product (line 7)"},
        MatmulRefusal{
            "convolution",
            "  float s = 0;\n  for (int i = 0; i < K; i++)\n    for (int j = 0; j < K; j++) s += a[(row + i) * N + "
            "col + j] * b[i * K + j];\n  c[row * N + col] = s;\n",
            "another loop or a jump inside the loop over i"},
        MatmulRefusal{
            "break_in_the_loop",
            "  float s = 0;\n  for (int i = 0; i < K; i++) {\n    if (p[i] < 0) break;\n    s += a[row * K + i] * "
            "b[i * N + col];\n  }\n  c[row * N + col] = s;\n",
            "another loop or a jump inside the loop over i (line 6)"},
        MatmulRefusal{
            "reads_what_it_writes",
            "  float s = 0;\n  for (int i = 0; i < K; i++) s += c[row * K + i] * b[i * N + col];\n  c[row * N + "
            "col] = s;\n",
            "writes the array that the product reads (line 6)"},
        MatmulRefusal{"barrier", "  __syncthreads();\n  c[row * N + col] = 0;\n", "already parallel within the block"},
        MatmulRefusal{"shared_memory", "  __shared__ float t[16];\n  t[threadIdx.x] = 0;\n  c[row * N + col] = t[0];\n",
                      "already parallel within the block: the threads share t (line 4)"},
        MatmulRefusal{
            "asks_for_the_thread_again",
            "  float s = 0;\n  for (int i = 0; i < K; i++) s += a[row * K + i] * b[i * N + col];\n  c[row * N + "
            "col] = s + threadIdx.x;\n",
            "threadIdx.x is used beyond the result's row and column (line 6)"},
        MatmulRefusal{
            "step_of_two",
            "  float s = 0;\n  for (int i = 0; i < K; i += 2) s += a[row * K + i] * b[i * N + col];\n  c[row * N + "
            "col] = s;\n",
            "does not count one variable upwards by one (line 5)"},
        MatmulRefusal{
            "half_accumulator",
            "  __half s = 0.0f;\n  for (int i = 0; i < K; i++) s += a[row * K + i] * b[i * N + col];\n  c[row * N "
            "+ col] = s;\n",
            "accumulate in float"},
        MatmulRefusal{
            "vector_product",
            "  float s = 0;\n  for (int i = 0; i < K; i++) s += a[row * K + i] * p[i];\n  c[row * N + col] = s;\n",
            "the product has no factor for the row or for the column"}),
    [](const auto& tested) { return tested.param.name; });

TEST(TileMatmulRefuses, KernelsOfOneThreadPerRow) {
  EXPECT_TRUE(ApplyToExample("tile_matmul", "src/softmax.cu", "softmax_forward").starts_with("REFUSED: "));
  EXPECT_TRUE(ApplyToExample("tile_matmul", "src/transpose.cu", "transpose").starts_with("REFUSED: "));
  EXPECT_EQ(ApplyToExample("tile_matmul", "src/row_sum.cu", "row_sum"),
            "REFUSED: row is not taken apart into a row and a column by / and % (line 5)");
}

TEST(TileMatmulRefuses, ResultsWithoutAGuard) {
  const std::string source = R"(__global__ void k(float* c, const float* a, const float* b, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = 0; i < N; i++) s += a[row * N + i] * b[i * N + col];
  c[row * N + col] = s;
}
void entry(float* c, const float* a, const float* b, int N) { k<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(c, a, b, N); }
)";
  EXPECT_NE(Apply("tile_matmul", source, "entry").find("REFUSED: no guard compares a row and a column"),
            std::string::npos);
}

}  // namespace
}  // namespace warpwright
