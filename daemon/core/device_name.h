// Devices as options, files and stores name them: "sim:h200", "cuda" (the first GPU), "cuda:1".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kernel_spec.h"

namespace warpwright::core {

struct DeviceName {
  DeviceKind kind = DeviceKind::kSim;
  std::string chip;  // of a simulated device; config/chip_file.h knows whether there is such a chip
  int index = 0;     // of a GPU, as the driver counts within CUDA_VISIBLE_DEVICES

  static std::optional<DeviceName> Parse(std::string_view text);
  std::string Text() const;  // a GPU with its number: "cuda:0"
};

// False also for what names no device, such as a GPU's UUID.
bool IsSimulated(std::string_view device);

}  // namespace warpwright::core
