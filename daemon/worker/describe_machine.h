// The worker's side of `warpwright doctor`: examines everything that it needs of its machine and reports it part by
// part. Runs outside the sandbox, so that whatever is missing is missing from the machine.
#pragma once

#include <functional>
#include <string>

#include "core/machine.h"

namespace warpwright::worker {

using MachineTeller = std::function<void(const core::Machine&)>;
// Reports the parts of one device, and calls `nvrtc` once, with the device's architecture; empty: no device is
// examined, or it does not exist.
using DeviceDescriber =
    std::function<void(const MachineTeller& tell, const std::function<void(const std::string& arch)>& nvrtc)>;

void DescribeMachine(const DeviceDescriber& describe_device, const MachineTeller& tell);

}  // namespace warpwright::worker
