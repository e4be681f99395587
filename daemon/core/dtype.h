// Element types of the manifest, of safetensors files and of recorded references.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpwright::core {

enum class DType : uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kU32, kI8, kU8, kBool };

inline constexpr DType kAllDTypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64,
                                       DType::kI32, DType::kU32, DType::kI8,  DType::kU8,   DType::kBool};

size_t SizeOf(DType dtype);
std::string_view Name(DType dtype);                      // "f32"
std::optional<DType> ParseDType(std::string_view name);  // inverse of Name()
bool IsFloat(DType dtype);

// Round to nearest even; NaN stays NaN (quiet), overflow gives infinity, subnormals are kept.
uint16_t FloatToHalf(float value);
inline float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = static_cast<uint32_t>(bits & 0x7fff)
                                                                                << 13;
  constexpr uint32_t kExponent = 0x1fu << 23, kRebase = 112u << 23;
  const bool infinite = (magnitude & kExponent) == kExponent, subnormal = (magnitude & kExponent) == 0;
  // A subnormal's mantissa below the exponent of 2^-14, which is taken off again: no branch.
  const float below = std::bit_cast<float>(magnitude + kRebase + (1u << 23)) - 0x1p-14f;
  const uint32_t normal = magnitude + (infinite ? 2 * kRebase : kRebase);
  return std::bit_cast<float>(sign | (subnormal ? std::bit_cast<uint32_t>(below) : normal));
}
uint16_t FloatToBFloat16(float value);
inline float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
// Directly from f64, without the double rounding through f32.
uint16_t DoubleToHalf(double value);
uint16_t DoubleToBFloat16(double value);

// Element `index` of a packed array. LoadAsDouble loses low bits of i64 beyond 2^53: compare integers as integers.
// Numbers beyond an integer type's range wrap around; NaN and infinities become 0.
double LoadAsDouble(DType dtype, const std::byte* data, size_t index);
int64_t LoadAsInteger(DType dtype, const std::byte* data, size_t index);
void StoreFromDouble(DType dtype, std::byte* data, size_t index, double value);

// Distance between 1 and the next larger value: 2^-52, 2^-23, 2^-10, 2^-7; 0 for integers.
double MachineEpsilon(DType dtype);
double LargestFinite(DType dtype);
double SmallestNormal(DType dtype);

}  // namespace warpwright::core
