// An NVIDIA GPU with core/device.h's interface: runs launch plans through the driver API, opened at run time, measures
// times by core/timing.h's protocol and reads counters with CUPTI.
//
// A context does not survive a fault of a kernel: after one, usable() is false and the process must exit. Several
// processes on a host share a GPU through a lease (lease.h) which is held for the length of one call.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compile/compiler.h"
#include "core/device.h"

namespace warpwright::gpu {

// `name`: "cuda" (the first GPU) or "cuda:1". `on_wait` is called with true before waiting for a GPU that other
// processes use, and with false when it is there. `compiler` must outlive the device: its own kernels (cache flushes,
// comparisons) are compiled for this GPU. kEnvironment: no driver, no such GPU, or a chip without data in config/chips.
Result<std::unique_ptr<core::Device>> MakeCudaDevice(const std::string& name, const compile::Compiler& compiler,
                                                     std::function<void(bool waits)> on_wait);

}  // namespace warpwright::gpu
