// What becomes of a kernel's cases. Part of check.
#pragma once

#include <string>

#include "app/check.h"

namespace warpwright::app {

// Compiles, records and runs the smallest case that the device may run, by the judge's own preparation.
Result<CheckedKernel> FindFates(const Workspace& workspace, const core::Manifest& manifest,
                                const core::KernelSpec& spec, const std::string& toolchain, core::Evaluator& worker);

}  // namespace warpwright::app
