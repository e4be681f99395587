#include "core/typed_values.h"

#include <cstring>

namespace warpwright::core {
namespace {

template <typename T, typename Convert>
void Load(const std::byte* data, std::span<double> out, Convert convert) {
  for (size_t k = 0; k < out.size(); ++k) {
    T value;
    std::memcpy(&value, data + k * sizeof(T), sizeof(T));
    out[k] = static_cast<double>(convert(value));
  }
}
template <typename T>
void Load(const std::byte* data, std::span<double> out) {
  Load<T>(data, out, [](T value) { return value; });
}

}  // namespace

void LoadAsDoubles(DType dtype, const std::byte* data, size_t first, std::span<double> out) {
  data += first * SizeOf(dtype);
  switch (dtype) {
    case DType::kF64: return Load<double>(data, out);
    case DType::kF32: return Load<float>(data, out);
    case DType::kF16: return Load<uint16_t>(data, out, HalfToFloat);
    case DType::kBF16: return Load<uint16_t>(data, out, BFloat16ToFloat);
    case DType::kI64: return Load<int64_t>(data, out);
    case DType::kI32: return Load<int32_t>(data, out);
    case DType::kU32: return Load<uint32_t>(data, out);
    case DType::kI8: return Load<int8_t>(data, out);
    case DType::kU8:
    case DType::kBool: return Load<uint8_t>(data, out);
  }
}

}  // namespace warpwright::core
