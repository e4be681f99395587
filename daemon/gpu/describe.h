// What the driver says of a GPU, as one JSON object with the fields of core/chip.h's GpuFacts by their names: how `warpwright`, which links
// no CUDA, learns it from `warpwright-worker --describe-gpu`.
#pragma once

#include <string>

#include "base/result.h"

namespace warpwright::gpu {

// `name`: "cuda" or "cuda:1".
Result<std::string> DescribeGpu(const std::string& name);

}  // namespace warpwright::gpu
