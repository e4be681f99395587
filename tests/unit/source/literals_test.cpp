#include "source/literals.h"

#include <gtest/gtest.h>

namespace warpwright::source {
namespace {

TEST(IntegerLiterals, OfATextWithTheirShifts) {
  EXPECT_EQ(IntegerLiterals(R"(
constexpr int kTile = 32, kMany = 1 << 20;  // 99
if (n > 2'048u && m <= 0x40 && k == 017) f<128>(1.5f, "64", 1e3, 0);
#define LIMIT 4096ull
)"),
            (std::set<int64_t>{0, 1, 15, 20, 32, 64, 128, 2048, 4096, 1 << 20}));
  EXPECT_EQ(IntegerLiterals("99999999999999999999999 + 1 << 63"), (std::set<int64_t>{1, 63}));
}

}  // namespace
}  // namespace warpwright::source
