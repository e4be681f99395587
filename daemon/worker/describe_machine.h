// The worker's side of `warpwright doctor`: looks at everything that it needs of its machine and tells part by part.
// Runs outside of the sandbox, so that what is missing is missing from the machine.
#pragma once

#include <functional>
#include <string>

#include "core/machine.h"

namespace warpwright::worker {

using MachineTeller = std::function<void(const core::Machine&)>;
// Tells the parts of one device, and calls `nvrtc` once, with the device's architecture; empty: no device is looked at,
// or it is not there.
using DeviceDescriber =
    std::function<void(const MachineTeller& tell, const std::function<void(const std::string& arch)>& nvrtc)>;

void DescribeMachine(const DeviceDescriber& describe_device, const MachineTeller& tell);

}  // namespace warpwright::worker
