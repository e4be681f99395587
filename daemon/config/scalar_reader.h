// Element types, and scalars of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

struct IntegerRange {
  int64_t low, high;
};
IntegerRange RangeOf(core::DType dtype);

core::DType ReadDType(const YamlObject& map, std::string_view key, Diagnostics& diagnostics);
// nullopt, or beyond the range of `dtype`: noted in `diagnostics`.
std::optional<core::ScalarValue> ReadScalarValue(const YamlNode& node, std::string_view name, core::DType dtype,
                                                 Diagnostics& diagnostics);

}  // namespace warpwright::config
