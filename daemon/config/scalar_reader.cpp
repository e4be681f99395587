#include "config/scalar_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace warpwright::config {

IntegerRange RangeOf(core::DType dtype) {
  switch (dtype) {
    case core::DType::kI32: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case core::DType::kU32: return {0, std::numeric_limits<uint32_t>::max()};
    case core::DType::kI8: return {-128, 127};
    case core::DType::kU8: return {0, 255};
    case core::DType::kBool: return {0, 1};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

core::DType ReadDType(const YamlObject& map, std::string_view key, Diagnostics& diagnostics) {
  std::string name = map.String(key);
  if (auto dtype = core::ParseDType(name)) return *dtype;
  std::vector<std::string_view> names;
  for (core::DType dtype : core::kAllDTypes) names.push_back(core::Name(dtype));
  if (!name.empty()) diagnostics.Add(UnknownName(*map.Find(key), "element type", name, names));
  return core::DType::kF32;
}

std::optional<core::ScalarValue> ReadScalarValue(const YamlNode& node, std::string_view name, core::DType dtype,
                                                 Diagnostics& diagnostics) {
  if (dtype == core::DType::kBool && (node.text() == "true" || node.text() == "false"))
    return core::ScalarValue(int64_t{node.text() == "true"});
  if (core::IsFloat(dtype)) {
    auto value = diagnostics.Take(node.AsDouble());
    if (!value) return std::nullopt;
    if (std::fabs(*value) > core::LargestFinite(dtype))
      diagnostics.Add(node, fmt::format("{} is beyond the range of {}", *value, core::Name(dtype)),
                      "write a smaller number, or give the scalar a wider type");
    return core::ScalarValue(*value);
  }
  auto value = diagnostics.Take(node.AsInteger());
  if (!value) return std::nullopt;
  auto [low, high] = RangeOf(dtype);
  if (*value < low || *value > high)
    diagnostics.Add(node, fmt::format("'{}' is {}; {} holds {} to {}", name, *value, core::Name(dtype), low, high),
                    "write a number within, or give the scalar a wider type");
  return core::ScalarValue(*value);
}

}  // namespace warpwright::config
