// Plans as JSON text, for the trajectory. Decoding never throws.
#pragma once

#include <string>

#include "base/result.h"
#include "core/plan.h"

namespace warpwright::agents {

std::string EncodePlan(const core::Plan& plan);
Result<core::Plan> DecodePlan(const std::string& text);

}  // namespace warpwright::agents
