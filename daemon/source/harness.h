// The text that is put behind a host slice so that the recorder can call the entry: in the same translation unit, where
// static functions and anonymous namespaces are in reach.
#pragma once

#include <string>
#include <variant>

#include "core/kernel_spec.h"
#include "core/verdict.h"
#include "source/slice.h"

namespace warpwright::source {

// What the compiler calls it in messages.
inline constexpr const char* kHarnessFile = "launch harness";

// Refused where the manifest's arguments do not fit the signature.
std::variant<std::string, core::Refused> MakeHarness(const Slices& slices, const core::KernelSpec& spec);

}  // namespace warpwright::source
