#include "core/quantity.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/evidence.h"

namespace warpwright::core {
namespace {

std::string Grouped(double whole) {
  std::string digits = fmt::format("{:.0f}", whole);
  for (size_t end = digits.size(), begin = digits[0] == '-' ? 1 : 0; end > begin + 3; end -= 3)
    digits.insert(end - 3, ",");
  return digits;
}

std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 999.5e6) return ThreeDigits(value / 1e9) + " billion";
  if (size >= 999'999.5) return ThreeDigits(value / 1e6) + " million";
  if (value == std::round(value) || size >= 99.95) return Grouped(value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  return size >= 0.0005 ? fmt::format("{:.3f}", value) : std::string("almost 0");
}

// Powers of ten, as in the bytes per second of chips. What may be a size in shared memory is given in full.
std::string Bytes(double value) {
  const double size = std::fabs(value);
  for (const auto& [factor, unit] : {std::pair(1e12, "TB"), std::pair(1e9, "GB"), std::pair(1e6, "MB")})
    if (size >= 0.9995 * factor) return fmt::format("{} {}", ThreeDigits(value / factor), unit);
  return size >= 99'950 ? fmt::format("{} kB", ThreeDigits(value / 1e3)) : ThreeDigits(value) + " bytes";
}

}  // namespace

std::string FormatQuantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "bool") return value != 0 ? "yes" : "no";
  if (unit == "us") unit = "µs";
  if (unit == "bytes") return Bytes(value);
  const bool bare = unit.empty() || unit == "count" || unit == "ratio" || unit == "number";
  return bare ? ThreeDigits(value) : fmt::format("{} {}", ThreeDigits(value), unit);
}

std::string FormatGain(double gain) {
  if (gain >= 99.95) return Grouped(gain) + "x";
  return gain >= 9.995 ? fmt::format("{:.1f}x", gain) : fmt::format("{:.2f}x", gain);
}

std::string_view UnitOf(std::string_view name) {
  const EvidenceField* field = FindEvidenceField(name);
  if (field != nullptr) return field->unit;
  return name.ends_with("_bytes") ? "bytes" : "";
}

}  // namespace warpwright::core
