#include "core/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace warpwright::core {
namespace {

struct DTypeFacts {
  DType dtype;
  std::string_view name;
  size_t size;
  double epsilon, largest, smallest_normal;
};
constexpr DTypeFacts kFacts[] = {
    {DType::kF64, "f64", 8, 0x1p-52, std::numeric_limits<double>::max(), 0x1p-1022},
    {DType::kF32, "f32", 4, 0x1p-23, 0x1.fffffep127, 0x1p-126},
    {DType::kF16, "f16", 2, 0x1p-10, 65504.0, 0x1p-14},
    {DType::kBF16, "bf16", 2, 0x1p-7, 0x1.fep127, 0x1p-126},
    {DType::kI64, "i64", 8, 0, 9223372036854775807.0, 1},
    {DType::kI32, "i32", 4, 0, 2147483647.0, 1},
    {DType::kU32, "u32", 4, 0, 4294967295.0, 1},
    {DType::kI8, "i8", 1, 0, 127, 1},
    {DType::kU8, "u8", 1, 0, 255, 1},
    {DType::kBool, "bool", 1, 0, 1, 1},
};
const DTypeFacts& FactsOf(DType dtype) { return kFacts[static_cast<size_t>(dtype)]; }

template <typename T>
T Load(const std::byte* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void Store(std::byte* data, size_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

// The low bits of a number's integer part, as those of sums that leave a type's range; 0 of what has none. C++ leaves
// the conversion of numbers beyond a type's range open.
int64_t LowBits(double value) {
  if (std::fabs(value) < 0x1p63) return static_cast<int64_t>(value);
  if (!std::isfinite(value)) return 0;
  const auto magnitude = static_cast<uint64_t>(std::fmod(std::fabs(value), 0x1p64));
  return static_cast<int64_t>(value < 0 ? 0 - magnitude : magnitude);
}

// Rounds to a binary format with `mantissa` stored bits and minimum exponent `emin`, whose exponents' bits fill the
// rest of 16, and packs it.
template <int mantissa, int emin>
uint16_t PackSmallFloat(double value) {
  constexpr int kShift = 52 - mantissa;
  constexpr uint64_t kInfinity = ((1u << (15 - mantissa)) - 1) << mantissa;
  constexpr double kSmallestNormal = emin < -100 ? 0x1p-126 : 0x1p-14;
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7fffffffffffffff;
  const double absolute = std::bit_cast<double>(magnitude);
  if (absolute >= kSmallestNormal && magnitude < 0x7ff0000000000000) {
    // To the nearest, to even: a carry out of the mantissa makes the next exponent, as it should.
    const uint64_t rounded = (magnitude + ((uint64_t{1} << (kShift - 1)) - 1) + (magnitude >> kShift & 1)) >> kShift;
    const uint64_t rebased = rounded - (static_cast<uint64_t>(1023 + emin - 1) << mantissa);
    return sign | static_cast<uint16_t>(std::min(rebased, kInfinity));
  }
  if (magnitude > 0x7ff0000000000000) return sign | static_cast<uint16_t>(kInfinity | 1u << (mantissa - 1));
  if (magnitude == 0x7ff0000000000000) return sign | static_cast<uint16_t>(kInfinity);
  // Units of the smallest subnormal: 2^mantissa of them are the smallest normal, bit for bit.
  return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(absolute, mantissa - emin)));
}

}  // namespace

size_t SizeOf(DType dtype) { return FactsOf(dtype).size; }
std::string_view Name(DType dtype) { return FactsOf(dtype).name; }
std::optional<DType> ParseDType(std::string_view name) {
  for (const auto& facts : kFacts)
    if (facts.name == name) return facts.dtype;
  return std::nullopt;
}
bool IsFloat(DType dtype) { return FactsOf(dtype).epsilon > 0; }
double MachineEpsilon(DType dtype) { return FactsOf(dtype).epsilon; }
double LargestFinite(DType dtype) { return FactsOf(dtype).largest; }
double SmallestNormal(DType dtype) { return FactsOf(dtype).smallest_normal; }

uint16_t DoubleToHalf(double value) { return PackSmallFloat<10, -14>(value); }
uint16_t DoubleToBFloat16(double value) { return PackSmallFloat<7, -126>(value); }
uint16_t FloatToHalf(float value) { return DoubleToHalf(value); }

uint16_t FloatToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double LoadAsDouble(DType dtype, const std::byte* data, size_t index) {
  switch (dtype) {
    case DType::kF64: return Load<double>(data, index);
    case DType::kF32: return Load<float>(data, index);
    case DType::kF16: return HalfToFloat(Load<uint16_t>(data, index));
    case DType::kBF16: return BFloat16ToFloat(Load<uint16_t>(data, index));
    default: return static_cast<double>(LoadAsInteger(dtype, data, index));
  }
}

int64_t LoadAsInteger(DType dtype, const std::byte* data, size_t index) {
  switch (dtype) {
    case DType::kI64: return Load<int64_t>(data, index);
    case DType::kI32: return Load<int32_t>(data, index);
    case DType::kU32: return Load<uint32_t>(data, index);
    case DType::kI8: return Load<int8_t>(data, index);
    case DType::kU8:
    case DType::kBool: return Load<uint8_t>(data, index);
    default: return LowBits(LoadAsDouble(dtype, data, index));
  }
}

void StoreFromDouble(DType dtype, std::byte* data, size_t index, double value) {
  switch (dtype) {
    case DType::kF64: return Store(data, index, value);
    case DType::kF32: return Store(data, index, static_cast<float>(value));
    case DType::kF16: return Store(data, index, DoubleToHalf(value));
    case DType::kBF16: return Store(data, index, DoubleToBFloat16(value));
    case DType::kI64: return Store(data, index, LowBits(value));
    case DType::kI32: return Store(data, index, static_cast<int32_t>(LowBits(value)));
    case DType::kU32: return Store(data, index, static_cast<uint32_t>(LowBits(value)));
    case DType::kI8: return Store(data, index, static_cast<int8_t>(LowBits(value)));
    case DType::kU8: return Store(data, index, static_cast<uint8_t>(LowBits(value)));
    case DType::kBool: return Store(data, index, static_cast<uint8_t>(value != 0));
  }
}

}  // namespace warpwright::core
