// Which devices the worker has: the one place that names what stands behind core/device.h.
#pragma once

#include <memory>
#include <string>

#include "worker/describe_machine.h"
#include "worker/service.h"

namespace warpwright::cli {

// "sim:h200", "cuda" or "cuda:1". kUsage: there is no such device.
Result<std::unique_ptr<core::Device>> OpenDevice(const std::string& name, const worker::DeviceNeeds& needs);

// For `warpwright doctor`. Of anything but a GPU there is nothing to look at.
worker::DeviceDescriber DescriberOf(const std::string& name);

}  // namespace warpwright::cli
