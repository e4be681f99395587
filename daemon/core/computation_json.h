// A Computation as JSON (computation_fields.h), from whoever sent it.
#pragma once

#include <string>
#include <string_view>

#include "core/computation.h"

namespace warpwright::core {

std::string EncodeComputation(const Computation& computation);
// What is decoded is valid. kCorrupt, also for what is larger than any sensible Computation.
Result<Computation> DecodeComputation(std::string_view text);

}  // namespace warpwright::core
