// Kernels that row_parallel must refuse, each with the reason and the line.
#include <gtest/gtest.h>

#include "structural_test_support.h"

namespace warpwright {
namespace {

using namespace structural_test;

struct Refusal {
  std::string name;
  std::string body;  // of a kernel whose row is `row`; line 4 is its first line
  std::string reason;
};
std::ostream& operator<<(std::ostream& out, const Refusal& refusal) { return out << refusal.name; }

class RowParallelRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(RowParallelRefuses, WithReasonAndLine) {
  const std::string source = R"(__device__ float noisy(float x) { printf("x"); return x; }
__global__ void k(float* out, const float* inp, const int* where, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x; if (row >= N) return;
)" + GetParam().body + R"(}
void entry(float* out, const float* inp, const int* where, int N, int C) { k<<<(N + 255) / 256, 256>>>(out, inp, where, N, C); }
)";
  const std::string text = Apply("row_parallel", source, "entry");
  ASSERT_TRUE(text.starts_with("REFUSED: ")) << text;
  EXPECT_NE(text.find(GetParam().reason), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RowParallelRefuses,
    testing::Values(
        Refusal{"scan",
                "  float s = 0;\n  for (int c = 0; c < C; c++) {\n    s += inp[row * C + c];\n    out[row * C + c] = "
                "s;\n  }\n",
                "s is carried from one iteration over c to the next, and not as a sum"},
        Refusal{"recurrence",
                "  float h = 0;\n  for (int c = 0; c < C; c++) h = 0.5f * h + inp[row * C + c];\n  out[row] = h;\n",
                "h is carried from one iteration over c to the next"},
        Refusal{
            "online_softmax",
            "  float m = -1e30f, s = 0;\n  for (int c = 0; c < C; c++) {\n    float n = fmaxf(m, inp[row * C + c]);\n"
            "    s = s * expf(m - n) + expf(inp[row * C + c] - n);\n    m = n;\n  }\n  out[row] = s;\n",
            "is carried from one iteration over c to the next"},
        Refusal{"break_leaves_the_loop",
                "  float s = 0;\n  for (int c = 0; c < C; c++) {\n    if (inp[row * C + c] < 0) break;\n    s += "
                "inp[row * C + c];\n  }\n  out[row] = s;\n",
                "break leaves the loop over c (line 6)"},
        Refusal{
            "return_leaves_the_loop",
            "  for (int c = 0; c < C; c++) {\n    if (inp[row * C + c] < 0) return;\n    out[row * C + c] = 1;\n  }\n",
            "return leaves the loop over c (line 5)"},
        Refusal{"neighbour_written_by_another_iteration",
                "  for (int c = 1; c < C; c++)\n    out[row * C + c] = out[row * C + c - 1] + inp[row * C + c];\n",
                "an iteration over c uses elements of out that another one writes (line 5)"},
        Refusal{"reversed_arrays_may_be_one",
                "  for (int c = 0; c < C; c++)\n    out[row * C + c] = inp[row * C + (C - 1 - c)];\n",
                "inp may be the same array as out"},
        Refusal{"scatter", "  for (int c = 0; c < C; c++)\n    out[row * C + where[c]] = inp[row * C + c];\n",
                "where out is written depends on memory or is not linear in c (line 5)"},
        Refusal{"accumulates_in_memory", "  for (int c = 0; c < C; c++) out[row] += inp[row * C + c];\n",
                "every iteration over c writes the same element of out; accumulate in a local variable (line 4)"},
        Refusal{"calls_printf",
                "  float s = 0;\n  for (int c = 0; c < C; c++) s += noisy(inp[row * C + c]);\n  out[row] = s;\n",
                "calls noisy, which calls printf (line 5)"},
        Refusal{"uses_atomics", "  for (int c = 0; c < C; c++) atomicAdd(&out[c], inp[row * C + c]);\n",
                "uses atomicAdd (line 4)"},
        Refusal{"asks_for_the_thread_again",
                "  float s = 0;\n  for (int c = 0; c < C; c++) s += inp[row * C + c];\n  out[blockIdx.x * 256 + "
                "threadIdx.x] = s;\n",
                "is used beyond the row's index (line 6)"},
        Refusal{"no_loop", "  out[row] = inp[row];\n", "no loop over the columns of a row"},
        Refusal{"column_sums",
                "  float s = 0;\n  for (int r = 0; r < C; r++) s += inp[r * N + row];\n  out[row] = s;\n",
                "no access in the loop over r walks along consecutive elements"},
        Refusal{"while_loop", "  int c = 0;\n  while (c < C) { out[row * C + c] = 1; c++; }\n",
                "a while loop over the row (line 5)"},
        Refusal{"array_of_the_thread",
                "  float part[64];\n  for (int c = 0; c < C; c++) part[c] = inp[row * C + c];\n  for (int c = 0; c < "
                "C; c++) out[row * C + c] = part[C - 1 - c];\n",
                "part is an array of the thread"},
        Refusal{"half_sum",
                "  __half s = 0.0f;\n  for (int c = 0; c < C; c++) s += __float2half(inp[row * C + c]);\n  out[row] = "
                "__half2float(s);\n",
                "accumulate in float"},
        Refusal{"index_that_is_not_the_counter",
                "  float best = -1e30f; int at = 0;\n  for (int c = 0; c < C; c++) if (inp[row * C + c] > best) { best "
                "= inp[row * C + c]; at = where[c]; }\n  out[row] = at;\n",
                "best is carried from one iteration over c to the next"},
        Refusal{"counts_downwards",
                "  float s = 0;\n  for (int c = C - 1; c >= 0; c--) s += inp[row * C + c];\n  out[row] = s;\n",
                "does not count upwards to a bound (line 5)"},
        Refusal{"barrier_in_the_source", "  __syncthreads();\n  out[row] = 0;\n", "already parallel over the row"},
        Refusal{"value_read_behind_the_loop",
                "  float last = 0;\n  for (int c = 0; c < C; c++) last = inp[row * C + c];\n  out[row] = last;\n",
                "last is carried from one iteration over c to the next"}),
    [](const auto& tested) { return tested.param.name; });

TEST(RowParallelRefuses, KernelsThatShareARow) {
  const std::string source = R"(__global__ void k(float* out, const float* inp, int C) {
  int row = blockIdx.x;
  if (threadIdx.x == 0) {
    float s = 0;
    for (int c = 0; c < C; c++) s += inp[row * C + c];
    out[row] = s;
  }
}
void entry(float* out, const float* inp, int N, int C) { k<<<N, 32>>>(out, inp, C); }
)";
  EXPECT_EQ(Apply("row_parallel", source, "entry"), "REFUSED: already one block per row: row is blockIdx.x (line 2)");
}

TEST(RowParallelRefuses, LaunchesThatItCannotChange) {
  const std::string kernel = R"(__global__ void k(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += inp[row * C + c];
  out[row] = s;
}
)";
  EXPECT_NE(Apply("row_parallel", kernel, "k").find("its launch is given in the manifest"), std::string::npos);
  const std::string in_macro = kernel +
                               "#define LAUNCH(o, i, n, c) k<<<((n) + 255) / 256, 256>>>(o, i, n, c)\n"
                               "void entry(float* out, const float* inp, int N, int C) { LAUNCH(out, inp, N, C); }\n";
  EXPECT_TRUE(Apply("row_parallel", in_macro, "entry").starts_with("REFUSED: "))
      << Apply("row_parallel", in_macro, "entry");
}

TEST(RowParallelRefuses, RowsThatTheHostCannotCount) {
  const std::string source = R"(__global__ void k(float* out, const float* inp, const int* n, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n[0]) return;
  float s = 0;
  for (int c = 0; c < C; c++) s += inp[row * C + c];
  out[row] = s;
}
void entry(float* out, const float* inp, const int* n, int C) { k<<<4, 256>>>(out, inp, n, C); }
)";
  EXPECT_EQ(Apply("row_parallel", source, "entry"),
            "REFUSED: the number of rows, \"n[0]\", cannot be computed where the kernel is launched (line 3)");
}

}  // namespace
}  // namespace warpwright
