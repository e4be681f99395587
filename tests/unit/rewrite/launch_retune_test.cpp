#include <gtest/gtest.h>

#include "rewrite_test_support.h"

namespace warpwright {
namespace {

using rewrite_test::AddedLines;
using rewrite_test::Apply;
using rewrite_test::CompileError;

const std::string kKernel =
    "__global__ void k(float* o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = 1; }\n";

std::string Launch(const std::string& body) { return "void run(float* o, int n) {\n" + body + "}\n"; }

TEST(LaunchRetune, FollowsTheConstantToWhereItIsWritten) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"literals", kKernel + Launch("  k<<<(n + 127) / 128, 128>>>(o, n);\n"),
       "  k<<<(n + 255) / 256, 256>>>(o, n);\n"},
      {"several elements per thread", kKernel + Launch("  k<<<(n + 511) / 512, 128>>>(o, n);\n"),
       "  k<<<(n + 1023) / 1024, 256>>>(o, n);\n"},
      {"local constant", kKernel + Launch("  const int b = 128;\n  k<<<(n + b - 1) / b, b>>>(o, n);\n"),
       "  const int b = 256;\n"},
      {"local variables", kKernel + Launch("  int b = 128;\n  int g = (n + b - 1) / b;\n  k<<<g, b>>>(o, n);\n"),
       "  int b = 256;\n"},
      {"dim3", kKernel + Launch("  dim3 b(128);\n  dim3 g((n + b.x - 1) / b.x);\n  k<<<g, b>>>(o, n);\n"),
       "  dim3 b(256);\n"},
      {"grid in a variable", kKernel + Launch("  int g = (n + 127) / 128;\n  k<<<g, 128>>>(o, n);\n"),
       "  int g = (n + 255) / 256;\n  k<<<g, 256>>>(o, n);\n"},
      {"macro", "#define BLOCK 128\n" + kKernel + Launch("  k<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(o, n);\n"),
       "#define BLOCK 256\n"},
      {"global constant",
       "constexpr int kBlock = 128;\n" + kKernel + Launch("  k<<<(n + kBlock - 1) / kBlock, kBlock>>>(o, n);\n"),
       "constexpr int kBlock = 256;\n"},
      {"constant that the kernel uses",
       "#define BLOCK 128\n__global__ void k(float* o, int n) { __shared__ float s[BLOCK]; int i = blockIdx.x * BLOCK "
       "+ threadIdx.x; s[threadIdx.x] = i; if (i < n) o[i] = s[threadIdx.x]; }\n" +
           Launch("  k<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(o, n);\n"),
       "#define BLOCK 256\n"},
      {"one block per row",
       "__global__ void k(float* o, int n) { for (int c = threadIdx.x; c < n; c += blockDim.x) o[blockIdx.x * n + c] = "
       "1; }\n" +
           Launch("  k<<<n, 128>>>(o, n);\n"),
       "  k<<<n, 256>>>(o, n);\n"},
      {"shared by warps",
       "__global__ void k(float* o, int n) { __shared__ float s[32]; s[threadIdx.x / 32] = 1; __syncthreads(); if "
       "(threadIdx.x == 0) o[blockIdx.x] = s[0]; }\n" +
           Launch("  k<<<n, 128>>>(o, n);\n"),
       "  k<<<n, 256>>>(o, n);\n"},
      {"dynamic shared memory",
       "__global__ void k(float* o, int n) { extern __shared__ float s[]; s[threadIdx.x] = 1; __syncthreads(); "
       "o[blockIdx.x] = s[0]; }\n" +
           Launch("  k<<<n, 128, 128 * sizeof(float)>>>(o, n);\n"),
       "  k<<<n, 256, 256 * sizeof(float)>>>(o, n);\n"},
      {"fixed grid",
       "__global__ void k(float* o, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
       "blockDim.x * gridDim.x) o[i] = 1; }\n" +
           Launch("  k<<<1024, 128>>>(o, n);\n"),
       "  k<<<1024, 256>>>(o, n);\n"},
  };
  for (const auto& [name, source, expected] : rows) {
    const std::string result = Apply("launch_retune", source, "run", {{"block_size", "256"}});
    EXPECT_EQ(AddedLines(source, result), expected) << name << ":\n" << result;
    EXPECT_EQ(CompileError(result), "") << name;
  }
}

TEST(LaunchRetune, BlocksOfTwoDimensions) {
  const std::string kernel =
      "__global__ void k(float* o, int n) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y "
      "+ threadIdx.y; if (x < n && y < n) o[y * n + x] = 1; }\n";
  const std::tuple<const char*, std::string, const char*, const char*> rows[] = {
      {"literals",
       kernel + Launch("  dim3 b(16, 16);\n  dim3 g((n + 15) / 16, (n + 15) / 16);\n  k<<<g, b>>>(o, n);\n"), "128",
       "  dim3 b(32, 4);\n  dim3 g((n + 31) / 32, (n + 3) / 4);\n"},
      {"members",
       kernel +
           Launch("  dim3 b(16, 16);\n  dim3 g((n + b.x - 1) / b.x, (n + b.y - 1) / b.y);\n  k<<<g, b>>>(o, n);\n"),
       "512", "  dim3 b(32, 16);\n"},
      {"square constant",
       "#define TILE 16\n" + kernel +
           Launch("  dim3 b(TILE, TILE);\n  dim3 g((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);\n  k<<<g, b>>>(o, "
                  "n);\n"),
       "1024", "#define TILE 32\n"},
      {"square constant, no square",
       "#define TILE 16\n" + kernel +
           Launch("  dim3 b(TILE, TILE);\n  dim3 g((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);\n  k<<<g, b>>>(o, "
                  "n);\n"),
       "128", "REFUSED"},
  };
  for (const auto& [name, source, size, expected] : rows) {
    const std::string result = Apply("launch_retune", source, "run", {{"block_size", size}});
    if (std::string(expected) == "REFUSED") {
      EXPECT_NE(result.find("not a square"), std::string::npos) << result;
    } else {
      EXPECT_EQ(AddedLines(source, result), expected) << name << ":\n" << result;
    }
  }
}

TEST(LaunchRetune, LaunchBounds) {
  const std::string source = kKernel + Launch("  k<<<(n + 127) / 128, 128>>>(o, n);\n");
  const std::string added = Apply("launch_retune", source, "run", {{"block_size", "128"}, {"launch_bounds", "on"}});
  EXPECT_NE(added.find("__global__ void __launch_bounds__(128) k(float* o, int n)"), std::string::npos) << added;
  EXPECT_EQ(CompileError(added), "");
  EXPECT_TRUE(
      Apply("launch_retune", added, "run", {{"block_size", "128"}, {"launch_bounds", "on"}}).starts_with("REFUSED"));
  const std::string larger = Apply("launch_retune", added, "run", {{"block_size", "512"}});
  EXPECT_NE(larger.find("__launch_bounds__(512) k("), std::string::npos) << larger;
  // Another launch with larger blocks must remain possible.
  const std::string shared = source + "void other(float* o, int n) { k<<<n, 1024>>>(o, n); }\n";
  EXPECT_NE(Apply("launch_retune", shared, "run", {{"block_size", "256"}, {"launch_bounds", "on"}})
                .find("__launch_bounds__(1024)"),
            std::string::npos);
}

TEST(LaunchRetune, Refuses) {
  const std::tuple<const char*, std::string, const char*> rows[] = {
      {"nothing to do", kKernel + Launch("  k<<<(n + 255) / 256, 256>>>(o, n);\n"), "already"},
      {"computed size", kKernel + Launch("  int b = n < 128 ? n : 128;\n  k<<<(n + b - 1) / b, b>>>(o, n);\n"),
       "not a constant"},
      {"literal in the kernel",
       "__global__ void k(float* o, int n) { int i = blockIdx.x * 128 + threadIdx.x; if (i < n) o[i] = 1; }\n" +
           Launch("  k<<<(n + 127) / 128, 128>>>(o, n);\n"),
       "repeats the block size"},
      {"named constant in the kernel",
       "__global__ void k(float* o, int n) { constexpr int kSize = 128; int i = blockIdx.x * kSize + threadIdx.x; if "
       "(i "
       "< n) o[i] = 1; }\n" +
           Launch("  k<<<(n + 127) / 128, 128>>>(o, n);\n"),
       "repeats the block size"},
      {"step of a loop",
       "__global__ void k(float* o, int n) { const int step = 128; for (int i = threadIdx.x; i < n; i += step) "
       "o[blockIdx.x * n + i] = 1; }\n" +
           Launch("  k<<<n, 128>>>(o, n);\n"),
       "repeats the block size"},
      {"shared array of a literal size",
       "__global__ void k(float* o, int n) { __shared__ float s[512]; s[threadIdx.x] = 1; o[blockIdx.x] = "
       "s[threadIdx.x]; }\n" +
           Launch("  k<<<n, 128>>>(o, n);\n"),
       "shared array s"},
      {"grid that does not follow", kKernel + Launch("  k<<<n / 100 + 1, 128>>>(o, n);\n"), "does not follow"},
      {"a grid of warps",
       "__global__ void k(float* o, int n) { const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; if "
       "(row "
       "< n) o[row] = 1; }\n" +
           Launch("  k<<<(n + 3) / 4, 128>>>(o, n);\n"),
       "does not follow"},
      {"constant used elsewhere",
       "#define BLOCK 128\nint other() { return BLOCK; }\n" + kKernel +
           Launch("  k<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(o, n);\n"),
       "used outside"},
      {"several kernels",
       kKernel + "__global__ void j(float* o) { o[0] = 1; }\n" +
           Launch("  const int b = 128;\n  k<<<(n + b - 1) / b, b>>>(o, n);\n  j<<<1, b>>>(o);\n"),
       "several kernels"},
  };
  for (const auto& [name, source, reason] : rows) {
    const std::string result = Apply("launch_retune", source, "run", {{"block_size", "256"}});
    EXPECT_TRUE(result.starts_with("REFUSED")) << name << ":\n" << result;
    EXPECT_NE(result.find(reason), std::string::npos) << name << ": " << result;
  }
}

}  // namespace
}  // namespace warpwright
