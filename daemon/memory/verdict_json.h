// Verdicts as the trajectory holds them, encoded by core/verdict_fields.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/verdict.h"

namespace warpwright::memory {

// The part of a verdict that is stored: of a launch's source lines the hottest 64.
core::Verdict Stored(core::Verdict verdict);
// Converts the forms in which earlier versions stored it to that of core/verdict_fields.h.
void UpgradeVerdict(nlohmann::json& verdict);

}  // namespace warpwright::memory
