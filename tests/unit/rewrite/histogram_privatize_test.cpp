#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::Apply;
using rewrite_test::CompileError;

const std::string kIndex = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

std::string HistogramSource(const std::string& body, const std::string& before = "", const std::string& type = "int") {
  return "#include <cuda_runtime.h>\n__global__ void k(int* h, const " + type + "* a, int n, int bins) {\n" + body +
         "}\nvoid run(int* h, const " + type + "* a, int n, int bins) {\n" + before +
         "  k<<<(n + 255) / 256, 256>>>(h, a, n, bins);\n}\n";
}

TEST(HistogramPrivatize, OfTheExample) {
  const std::string result = rewrite_test::ApplyToExample("histogram_privatize", "src/histogram.cu", "histogram");
  EXPECT_EQ(
      rewrite_test::AddedLines(rewrite_test::ReadExample("src/histogram.cu"), result),
      "  // A block counts in shared memory and adds its counts once: far fewer atomics meet at one address of "
      "global memory.\n"
      "  __shared__ unsigned int block_counts[NUM_BINS];\n"
      "  for (int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) block_counts[bin] = 0;\n"
      "  __syncthreads();\n"
      "  for (long long next_i = blockIdx.x * blockDim.x + threadIdx.x; next_i < n; next_i += gridDim.x * blockDim.x) "
      "{\n"
      "    const int i = static_cast<int>(next_i);\n"
      "    atomicAdd(&block_counts[data[i]], 1u);\n"
      "  __syncthreads();\n"
      "  for (int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {\n"
      "    if (block_counts[bin] != 0) atomicAdd(&counts[bin], block_counts[bin]);\n"
      "  }\n"
      "  histogram_kernel<<<ceil_div(n, 16 * block_size), block_size>>>(counts, data, n);\n");
  EXPECT_EQ(CompileError(result, "histogram", "src/histogram.cu"), "");
}

TEST(HistogramPrivatize, FindsTheNumberOfBins) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"of the type", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i]], 1);\n", "", "unsigned char"),
       "kBins = 256;"},
      {"shifted", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] >> 4], 1);\n", "", "unsigned char"),
       "kBins = 16;"},
      {"divided", HistogramSource(kIndex + "  if (i < n) atomicAdd(h + a[i] / 8, 1);\n", "", "unsigned char"),
       "kBins = 32;"},
      {"masked", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] & 63], 1);\n"), "kBins = 64;"},
      {"remainder",
       HistogramSource(kIndex + "  if (i < n) {\n    int b = a[i] % 100;\n    atomicAdd(&h[b], 1);\n  }\n"),
       "kBins = 100;"},
      {"clamped", HistogramSource(kIndex + "  if (i >= n) return;\n  atomicAdd(&h[max(0, min(a[i], 9))], 1);\n"),
       "kBins = 10;"},
      {"compared with a constant",
       HistogramSource(kIndex +
                       "  if (i < n) {\n    int b = a[i];\n    if (b >= 0 && b < 50) atomicAdd(&h[b], 1);\n  }\n"),
       "kBins = 50;"},
      {"cleared by the launcher",
       HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i]], 1);\n", "  cudaMemset(h, 0, 300 * sizeof(int));\n"),
       "kBins = 300;"},
      {"compared with a parameter",
       HistogramSource(kIndex + "  if (i < n) {\n    int b = a[i];\n    if (b < bins) atomicAdd(&h[b], 1);\n  }\n"),
       "extern __shared__ int block_h[];"},
      {"remainder of a parameter", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] % bins], 1);\n"),
       "if (bins * sizeof(int) <= 48 * 1024) {\n    k_shared<<<((n + 255) / 256 + 15) / 16, 256, bins * "
       "sizeof(int)>>>(h, a, n, bins);"},
      {"grid-stride",
       HistogramSource("  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
                       "atomicAdd(&h[a[i] & 7], 2);\n"),
       "atomicAdd(&block_h[a[i] & 7], 2);"},
  };
  for (const auto& [name, source, expected] : rows) {
    const std::string result = Apply("histogram_privatize", source);
    EXPECT_NE(result.find(expected), std::string::npos) << name << ":\n" << result;
    EXPECT_EQ(CompileError(result), "") << name << ":\n" << result;
  }
}

// Equal numbers of other names, and names that mean something else at the kernel, are not the number of bins.
TEST(HistogramPrivatize, UsesTheNameThatTheNumberOfBinsHas) {
  const std::string count = kIndex + "  if (i < n) atomicAdd(&h[a[i] % BINS], 1);\n";
  const std::string plain = HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] & 255], 1);\n");
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"a macro", "#define BINS 100\n" + HistogramSource(count), "block_h[BINS];"},
      {"in parentheses", "#define BINS (0x64u)\n" + HistogramSource(count), "block_h[BINS];"},
      {"a constant", "static constexpr int BINS = 100;\n" + HistogramSource(count), "block_h[BINS];"},
      {"the number less one",
       "#define BINS 64\n" + HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] & (BINS - 1)], 1);\n"),
       "block_h[BINS];"},
      {"cleared by its name",
       "#define BINS 64\n#define OTHER 64\n" + HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i]], 1);\n",
                                                               "  cudaMemset(h, 0, BINS * sizeof(int));\n"),
       "block_h[BINS];"},
      {"an equal number", "#define THREADS 256\n" + plain, "block_h[kBins];"},
      {"a macro of more", "#define MORE 50\n#define BINS (50 + MORE)\n" + HistogramSource(count), "block_h[kBins];"},
      {"of the launcher alone",
       HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i]], 1);\n",
                       "  const int BINS = 64;\n  cudaMemset(h, 0, BINS * sizeof(int));\n"),
       "block_h[kBins];"},
  };
  for (const auto& [name, source, expected] : rows) {
    const std::string result = Apply("histogram_privatize", source);
    EXPECT_NE(result.find(expected), std::string::npos) << name << ":\n" << result;
    EXPECT_EQ(CompileError(result), "") << name << ":\n" << result;
  }
}

TEST(HistogramPrivatize, Refuses) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"unknown bins", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i]], 1);\n"),
       "number of bins is not known"},
      {"too many bins", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[a[i] & 65535], 1);\n"), "do not fit"},
      {"no atomics", HistogramSource(kIndex + "  if (i < n) h[i] = a[i];\n"), "besides counting"},
      {"old value used", HistogramSource(kIndex + "  if (i < n) {\n    int p = atomicAdd(&h[a[i] & 7], 1);\n  }\n"),
       "old count is used"},
      {"maximum", HistogramSource(kIndex + "  if (i < n) atomicMax(&h[a[i] & 7], 1);\n"), "not atomicAdd"},
      {"two counts",
       HistogramSource(kIndex +
                       "  if (i < n) {\n    atomicAdd(&h[a[i] & 7], 1);\n    atomicAdd(&h[a[i] & 3], 1);\n  }\n"),
       "more than one atomic"},
      {"counts read", HistogramSource(kIndex + "  if (i < n) if (h[0] < 9) atomicAdd(&h[a[i] & 7], 1);\n"),
       "is read too"},
      {"not by data", HistogramSource(kIndex + "  if (i < n) atomicAdd(&h[i % 8], a[i]);\n"),
       "does not come from the data"},
      {"private already",
       HistogramSource("  __shared__ int s[8];\n" + kIndex +
                       "  if (i < n) atomicAdd(&s[a[i] & 7], 1);\n  __syncthreads();\n  atomicAdd(&h[threadIdx.x], "
                       "s[threadIdx.x]);\n"),
       "REFUSED"},
  };
  for (const auto& [name, source, reason] : rows) {
    const std::string result = Apply("histogram_privatize", source);
    EXPECT_TRUE(result.starts_with("REFUSED")) << name << ":\n" << result;
    EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
  }
}

}  // namespace
}  // namespace warpwright
