#include <gtest/gtest.h>

#include "products.h"
#include "structural_test_support.h"

namespace warpwright {
namespace {

using namespace structural_test;

class TileMatmulProducts : public testing::TestWithParam<Product> {};

TEST_P(TileMatmulProducts, AreTiledAndCompile) {
  const Product& product = GetParam();
  const std::string text = Apply("tile_matmul", product.source, "entry");
  const bool refused = text.starts_with("REFUSED") || text.starts_with("ERROR");
  ASSERT_EQ(refused, product.kernels.empty()) << text;
  for (const std::string& part : product.contains)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
  for (const std::string& part : product.absent)
    EXPECT_EQ(text.find(part), std::string::npos) << part << "\n--- in ---\n" << text;
  if (refused) return;
  EXPECT_EQ(CompileError(text, "kernel.cu", "entry", product.kernels), "") << text;
}

INSTANTIATE_TEST_SUITE_P(Table, TileMatmulProducts, testing::ValuesIn(Products()),
                         [](const auto& tested) { return tested.param.name; });

TEST(TileMatmul, TilesTheExamplesInEveryShape) {
  for (const char* tile : {"64x64x16", "128x128x8", "64x64x8", "128x64x16", "32x32x32"}) {
    const std::string product = ApplyToExample("tile_matmul", "src/matmul.cu", "matmul_bias", {{"tile", tile}});
    EXPECT_EQ(CompileError(product, "src/matmul.cu", "matmul_bias", {"matmul_bias_kernel"}), "") << product;
  }
  const std::string scores =
      ApplyToExample("tile_matmul", "src/attention.cu", "attention_scores", {{"tile", "32x32x32"}});
  EXPECT_NE(scores.find("dim3 grid(ceil_div(T, 32), ceil_div(T, 32), B);"), std::string::npos) << scores;
  EXPECT_EQ(CompileError(scores, "src/attention.cu", "attention_scores", {"attention_scores_kernel"}), "");
}

}  // namespace
}  // namespace warpwright
