// The worked examples of the cards: all compile for their chip, and what the simulator executes computes what it says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "skills/library.h"
#include "tests/support/sim_kit.h"

namespace warpwright {
namespace {

std::string ExampleOf(const std::string& method) {
  const auto library = skills::LoadBuiltInSkills();
  const skills::MethodCard* card = library ? library->Find(method) : nullptr;
  return card != nullptr ? card->example : std::string();
}

// The machine's name of the kernel whose name contains all of this.
std::string KernelLike(const sim::SimKit& kit, const std::string& part) {
  for (const auto& kernel : kit.program().kernels())
    if (kernel.symbol.find(part) != std::string::npos) return kernel.symbol;
  return part;
}

// Small whole numbers: sums of products are exact in every type and order.
std::vector<float> Whole(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(digit(random));
  return values;
}

uint16_t Half(float whole) {  // of a small whole number
  if (whole == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(whole), &exponent);  // in [0.5, 1)
  return static_cast<uint16_t>((whole < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                               (static_cast<int>(mantissa * 2048) & 1023));
}

float Product(const std::vector<float>& a, const std::vector<float>& b, int K, int N, int row, int column) {
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += a[static_cast<size_t>(row) * K + k] * b[static_cast<size_t>(k) * N + column];
  return sum;
}

struct Sizes {
  int M, N, K;
};

TEST(CardExamples, AllCompile) {
  const auto library = skills::LoadBuiltInSkills();
  ASSERT_TRUE(library) << library.error().Format();
  int examples = 0;
  for (const auto& [id, card] : library->methods) {
    if (card.example.empty()) continue;
    ++examples;
    EXPECT_NE(sim::CompileToPtx(card.example, "sm_90").find(".entry"), std::string::npos) << id;  // ends if it does not
  }
  EXPECT_EQ(examples, 5);
}

TEST(CardExamples, TensorCoreProduct) {
  sim::SimKit kit = sim::SimKit::FromCuda(ExampleOf("tensor_core_mma"));
  for (const Sizes& s : {Sizes{64, 64, 64}, {67, 50, 40}, {70, 72, 33}}) {
    const auto a = Whole(static_cast<size_t>(s.M) * s.K, 1), b = Whole(static_cast<size_t>(s.K) * s.N, 2);
    std::vector<uint16_t> ha, hb;
    for (const float v : a) ha.push_back(Half(v));
    for (const float v : b) hb.push_back(Half(v));
    const auto da = kit.Make<uint16_t>("a", ha, true), db = kit.Make<uint16_t>("b", hb, true);
    const auto dc = kit.Make<float>("c", static_cast<size_t>(s.M) * s.N, false);
    const core::Dim3 grid{static_cast<uint32_t>((s.N + 63) / 64), static_cast<uint32_t>((s.M + 63) / 64), 1};
    ASSERT_TRUE(kit.Run(KernelLike(kit, "tensor_core_mma"), grid, {128, 1, 1}, 0, da, db, dc, s.M, s.N, s.K))
        << kit.fault.message;
    for (int i = 0; i < s.M * s.N; ++i)
      ASSERT_EQ(dc[static_cast<size_t>(i)], Product(a, b, s.K, s.N, i / s.N, i % s.N)) << s.M << " at " << i;
    if (s.M == 64) {  // by single elements there are conflicts
      EXPECT_EQ(kit.counters.shared_bank_conflicts, 0u);
    }
  }
}

TEST(CardExamples, ProductWithAsynchronousCopies) {
  sim::SimKit kit = sim::SimKit::FromCuda(ExampleOf("async_copy_pipeline"));
  for (const bool whole : {true, false})
    for (const Sizes& s : {Sizes{64, 64, 64}, {68, 52, 12}, {65, 63, 35}}) {
      if (whole && (s.N % 4 != 0 || s.K % 4 != 0)) continue;
      const auto a = Whole(static_cast<size_t>(s.M) * s.K, 3), b = Whole(static_cast<size_t>(s.K) * s.N, 4);
      const auto da = kit.Make<float>("a", a, true), db = kit.Make<float>("b", b, true);
      const auto dc = kit.Make<float>("c", static_cast<size_t>(s.M) * s.N, false);
      const core::Dim3 grid{static_cast<uint32_t>((s.N + 63) / 64), static_cast<uint32_t>((s.M + 63) / 64), 1};
      ASSERT_TRUE(kit.Run(KernelLike(kit, whole ? "Lb1" : "Lb0"), grid, {256, 1, 1}, 0, da, db, dc, s.M, s.N, s.K))
          << kit.fault.message;
      for (int i = 0; i < s.M * s.N; ++i)
        ASSERT_EQ(dc[static_cast<size_t>(i)], Product(a, b, s.K, s.N, i / s.N, i % s.N)) << s.M << " at " << i;
    }
}

TEST(CardExamples, OnlineSoftmax) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  sim::SimKit kit = sim::SimKit::FromCuda(ExampleOf("online_softmax"));
  const int columns = 301;
  const size_t rows = 7;
  std::vector<float> values = Whole(rows * columns, 5);
  for (int i = 0; i < columns; ++i) {
    values[size_t{1} * columns + i] = static_cast<float>(i);   // the maximum grows all the time
    values[size_t{2} * columns + i] = static_cast<float>(-i);  // and never
    values[size_t{3} * columns + i] = i % 3 == 0 ? -kInfinity : 1e30f;
    values[size_t{6} * columns + i] = -kInfinity;
  }
  values[4 * columns + 7] = kInfinity;
  values[5 * columns + 290] = std::numeric_limits<float>::quiet_NaN();
  const auto in = kit.Make<float>("in", values, true), out = kit.Make<float>("out", values.size(), false);
  ASSERT_TRUE(kit.Run(KernelLike(kit, "online_softmax"), {rows, 1, 1}, {256, 1, 1}, 0, out, in, columns))
      << kit.fault.message;
  for (size_t row = 0; row < rows; ++row) {
    double max = -kInfinity, sum = 0;
    for (size_t i = 0; i < columns; ++i) max = std::max(max, static_cast<double>(values[row * columns + i]));
    for (size_t i = 0; i < columns; ++i) sum += std::exp(values[row * columns + i] - max);
    for (size_t i = 0; i < columns; ++i) {
      const double expected = std::exp(values[row * columns + i] - max) / sum;
      ASSERT_EQ(std::isnan(expected), std::isnan(out[row * columns + i])) << row << " " << i;
      if (std::isnan(expected)) continue;
      ASSERT_NEAR(out[row * columns + i], expected, 2e-6 * expected + 1e-37) << row << " " << i;
    }
  }
}

TEST(CardExamples, SwizzledTranspose) {
  sim::SimKit kit = sim::SimKit::FromCuda(ExampleOf("shared_swizzle"));
  const int rows = 70, columns = 45;
  const auto values = Whole(static_cast<size_t>(rows) * columns, 6);
  const auto in = kit.Make<float>("in", values, true), out = kit.Make<float>("out", values.size(), false);
  ASSERT_TRUE(kit.Run(KernelLike(kit, "shared_swizzle"), {2, 3, 1}, {32, 8, 1}, 0, out, in, rows, columns))
      << kit.fault.message;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      ASSERT_EQ(out[static_cast<size_t>(c * rows + r)], values[static_cast<size_t>(r * columns + c)]) << r << " " << c;
  EXPECT_EQ(kit.counters.shared_bank_conflicts, 0u);
}

}  // namespace
}  // namespace warpwright
