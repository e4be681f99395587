// The outcomes of lifting as JSON text: the data of steps of the kinds kLift and kLiftSegments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/lifting.h"
#include "core/scheduling.h"

namespace warpwright::memory {

std::string EncodeLift(const core::LiftOutcome& outcome);
Result<core::LiftOutcome> DecodeLift(std::string_view json);  // a Computation in it is valid

std::string EncodeSegments(const std::vector<core::SegmentForm>& segments);
Result<std::vector<core::SegmentForm>> DecodeSegments(std::string_view json);  // their Computations are valid

}  // namespace warpwright::memory
