// The text that is appended to a host slice so that the recorder can call the entry: in the same translation unit,
// where static functions and anonymous namespaces are accessible.
#pragma once

#include <string>
#include <variant>

#include "core/kernel_spec.h"
#include "core/verdict.h"
#include "source/slice.h"

namespace warpwright::source {

// Its file name in compiler messages.
inline constexpr const char* kHarnessFile = "launch harness";

// Refused if the manifest's arguments do not match the signature.
std::variant<std::string, core::Refused> MakeHarness(const Slices& slices, const core::KernelSpec& spec);

}  // namespace warpwright::source
