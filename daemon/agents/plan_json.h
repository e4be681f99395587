// Plans as JSON text, for the trajectory. Decoding never throws.
#pragma once

#include <string>

#include "base/result.h"
#include "core/plan.h"

namespace warpwright {

std::string EncodePlan(const Plan& plan);
Result<Plan> DecodePlan(const std::string& text);

}  // namespace warpwright
