// One entry of the manifest's `kernels`. config/manifest.h describes the format and the checks.
#pragma once

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

// What could be read; errors are noted in `diagnostics`, and the value must then not be used.
core::KernelSpec ReadKernel(const YamlNode& node, Diagnostics& diagnostics);

}  // namespace warpwright::config
