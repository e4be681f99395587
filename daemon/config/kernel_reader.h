// One entry of the manifest's `kernels`. config/manifest.h describes the format and the checks.
#pragma once

#include "config/yaml_reader.h"
#include "core/kernel_spec.h"

namespace warpwright::config {

// What could be read; errors are noted in `diagnostics`, and the value must then not be used. `build`: that of the
// manifest, of which the kernel's own overrides what it names.
core::KernelSpec ReadKernel(const YamlNode& node, const core::BuildOptions& build, Diagnostics& diagnostics);

}  // namespace warpwright::config
