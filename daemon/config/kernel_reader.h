// One entry of the manifest's `kernels`. Format and checks stand in config/manifest.h.
#pragma once

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

// What could be read; whatever is wrong is noted in `diagnostics`, and the value is then not to be used.
core::KernelSpec ReadKernel(const YamlNode& node, Diagnostics& diagnostics);

}  // namespace warpwright::config
