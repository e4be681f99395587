#include "core/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace warpwright {
namespace {

TEST(Quantity, IsReadWithoutAnExponent) {
  const struct {
    double value;
    const char* unit;
    const char* shown;
  } rows[] = {{0.378787, "%", "0.379 %"},
              {96.97, "%", "97.0 %"},
              {100, "%", "100 %"},
              {32, "sectors", "32 sectors"},
              {1024, "count", "1,024"},
              {100352, "", "100,352"},
              {-4200, "", "-4,200"},
              {999'999, "", "999,999"},
              {1'020'000, "", "1.02 million"},
              {3.2e9, "", "3.20 billion"},
              {16, "bytes", "16 bytes"},
              {49152, "bytes", "49,152 bytes"},
              {99'949, "bytes", "99,949 bytes"},
              {131'072, "bytes", "131 kB"},
              {999'499, "bytes", "999 kB"},
              {999'500, "bytes", "1.00 MB"},
              {1e6, "bytes", "1 MB"},
              {3.2e9, "bytes", "3.20 GB"},
              {1.5e13, "bytes", "15 TB"},
              {1.52, "ratio", "1.52"},
              {12.345, "us", "12.3 µs"},
              {1e-9, "%", "almost 0 %"},
              {0, "", "0"},
              {1, "bool", "yes"},
              {std::numeric_limits<double>::infinity(), "%", "unknown"}};
  for (const auto& row : rows) EXPECT_EQ(core::FormatQuantity(row.value, row.unit), row.shown);
}

TEST(Quantity, GainsHaveThreeDigits) {
  for (const auto& [gain, text] :
       {std::pair(0.5, "0.50x"), std::pair(1.0, "1.00x"), std::pair(9.994, "9.99x"), std::pair(9.996, "10.0x"),
        std::pair(12.01, "12.0x"), std::pair(99.94, "99.9x"), std::pair(99.96, "100x"), std::pair(217.8, "218x"),
        std::pair(1020.0, "1,020x"), std::pair(10'200.4, "10,200x")})
    EXPECT_EQ(core::FormatGain(gain), text);
}

TEST(Quantity, UnitsAreThoseOfTheEvidence) {
  EXPECT_EQ(core::UnitOf("load_efficiency_pct"), "%");
  EXPECT_EQ(core::UnitOf("global_load_requests"), "") << "a counter";
  EXPECT_EQ(core::UnitOf("dram_read_bytes"), "bytes") << "a counter of bytes";
}

}  // namespace
}  // namespace warpwright
