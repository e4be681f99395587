#include "core/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warpwright {
namespace {

TEST(DType, NamesRoundTrip) {
  for (const core::DType dtype : core::kAllDTypes) EXPECT_EQ(core::ParseDType(core::Name(dtype)), dtype);
  EXPECT_EQ(core::ParseDType("float"), std::nullopt);
}

// Every half is exactly representable in f32 and f64, so packing it again must give the same bits (NaN: any NaN).
TEST(DType, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = core::HalfToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(core::HalfToFloat(core::FloatToHalf(value))));
      continue;
    }
    ASSERT_EQ(core::FloatToHalf(value), bits) << value;
    ASSERT_EQ(core::DoubleToHalf(value), bits) << value;
  }
}

TEST(DType, EveryBFloat16RoundTrips) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = core::BFloat16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(core::FloatToBFloat16(value), bits) << value;
    ASSERT_EQ(core::DoubleToBFloat16(value), bits) << value;
  }
}

// Between two adjacent halves: below the midpoint down, above it up, at it to the even one.
TEST(DType, HalfRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = core::HalfToFloat(static_cast<uint16_t>(bits));
    const double high = core::HalfToFloat(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(core::DoubleToHalf(middle), bits + (bits & 1)) << middle;
    ASSERT_EQ(core::DoubleToHalf(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(core::DoubleToHalf(std::nextafter(middle, 1e9)), bits + 1);
  }
  EXPECT_EQ(core::DoubleToHalf(65519.999), 0x7bff);
  EXPECT_EQ(core::DoubleToHalf(65520), 0x7c00);  // the midpoint above the largest finite value
}

TEST(DType, BFloat16FromDoubleAvoidsDoubleRounding) {
  // 1 + 2^-8 + 2^-40 is above the midpoint; through f32 it would become the midpoint and round to even, down.
  EXPECT_EQ(core::DoubleToBFloat16(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(core::DoubleToBFloat16(1 + 0x1p-8), 0x3f80);
}

TEST(DType, LoadAndStoreAgree) {
  std::byte bytes[16];
  for (const core::DType dtype : core::kAllDTypes) {
    core::StoreFromDouble(dtype, bytes, 1, 1);
    EXPECT_EQ(core::LoadAsDouble(dtype, bytes, 1), 1) << core::Name(dtype);
    EXPECT_EQ(core::LoadAsInteger(dtype, bytes, 1), 1) << core::Name(dtype);
  }
  core::StoreFromDouble(core::DType::kI8, bytes, 0, -128);
  EXPECT_EQ(core::LoadAsDouble(core::DType::kI8, bytes, 0), -128);
  core::StoreFromDouble(core::DType::kU32, bytes, 0, 4294967295.0);
  EXPECT_EQ(core::LoadAsInteger(core::DType::kU32, bytes, 0), 4294967295);
}

TEST(DType, IntegersWrapAround) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    core::DType dtype;
    double value;
    int64_t stored;
  } rows[] = {
      {core::DType::kI8, 128, -128},
      {core::DType::kI8, -129.5, 127},
      {core::DType::kU8, 256, 0},
      {core::DType::kU8, -1, 255},
      {core::DType::kI32, 0x1p31, std::numeric_limits<int32_t>::min()},
      {core::DType::kI32, 0x1p32 + 5, 5},
      {core::DType::kU32, -1, 4294967295},
      {core::DType::kI64, 0x1p63, std::numeric_limits<int64_t>::min()},
      {core::DType::kI64, -0x1p63, std::numeric_limits<int64_t>::min()},
      {core::DType::kI64, -0x1p64 - 0x1p12, -0x1000},
      {core::DType::kI64, 0x1p1000, 0},
      {core::DType::kI32, std::numeric_limits<double>::quiet_NaN(), 0},
      {core::DType::kI64, -kInfinity, 0},
      {core::DType::kU8, kInfinity, 0},
  };
  std::byte bytes[8];
  for (const auto& row : rows) {
    core::StoreFromDouble(row.dtype, bytes, 0, row.value);
    EXPECT_EQ(core::LoadAsInteger(row.dtype, bytes, 0), row.stored) << core::Name(row.dtype) << " " << row.value;
  }
}

}  // namespace
}  // namespace warpwright
