// Which devices the worker has: the only file that names the implementations of core/device.h.
#pragma once

#include <memory>
#include <string>

#include "worker/describe_machine.h"
#include "worker/service.h"

namespace warpwright::cli {

// "sim:h200", "cuda" or "cuda:1". kUsage: the device does not exist.
Result<std::unique_ptr<core::Device>> OpenDevice(const std::string& name, const worker::DeviceNeeds& needs);

// For `warpwright doctor`. Only a GPU has anything to report.
worker::DeviceDescriber DescriberOf(const std::string& name);

}  // namespace warpwright::cli
