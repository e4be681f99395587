#include "core/device_name.h"

#include <charconv>

namespace warpwright::core {
namespace {

constexpr std::string_view kSimulated = "sim:", kGpu = "cuda", kNumberedGpu = "cuda:";

}  // namespace

std::optional<DeviceName> DeviceName::Parse(std::string_view text) {
  if (text.starts_with(kSimulated)) return DeviceName{.chip = std::string(text.substr(kSimulated.size()))};
  DeviceName name{.kind = DeviceKind::kCuda};
  if (text == kGpu) return name;
  if (!text.starts_with(kNumberedGpu)) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + kNumberedGpu.size(), end, name.index);
  if (error != std::errc() || stop != end || name.index < 0) return std::nullopt;
  return name;
}

std::string DeviceName::Text() const {
  return kind == DeviceKind::kSim ? std::string(kSimulated) + chip : std::string(kNumberedGpu) + std::to_string(index);
}

bool IsSimulated(std::string_view device) {
  const auto name = DeviceName::Parse(device);
  return name && name->kind == DeviceKind::kSim;
}

}  // namespace warpwright::core
