// The outcome of lifting as JSON text: the data of a step of kind kLift.
#pragma once

#include <string>
#include <string_view>

#include "core/lifting.h"

namespace warpwright::memory {

std::string EncodeLift(const core::LiftOutcome& outcome);
Result<core::LiftOutcome> DecodeLift(std::string_view json);  // a Computation in it is valid

}  // namespace warpwright::memory
