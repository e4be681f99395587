// What the driver, NVML and CUPTI report about a GPU: this is how `warpwright`, which does not link CUDA, gets it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "core/machine.h"

namespace warpwright::gpu {

// For `warpwright-worker --describe-gpu`: one JSON object with the fields of core/chip.h's GpuFacts by their names.
// `name`: "cuda" or "cuda:1".
Result<std::string> DescribeGpu(const std::string& name);

// For `warpwright-worker --doctor`: the parts nvml, driver, device and, if any, counters, each passed to `tell` as soon
// as it is known. `before_counters` is called before the last, with the device's architecture ("sm_90"; empty: no GPU).
// CUPTI comes last: it may bring down the process.
void DescribeGpus(const std::string& name, const std::function<void(const core::Machine&)>& tell,
                  const std::function<void(const std::string&)>& before_counters);

}  // namespace warpwright::gpu
