// Verdicts as JSON text, for the trajectory. Of a launch's source lines the hottest 64 are stored. Decoding is strict
// and never throws: anyone may have written the file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/verdict.h"

namespace warpwright::memory {

std::string EncodeVerdict(const core::Verdict& verdict);
Result<core::Verdict> DecodeVerdict(std::string_view json);

// The part of a verdict that is stored.
core::Verdict Stored(core::Verdict verdict);
// Converts the forms in which earlier versions stored it to that of core/verdict_fields.h.
void UpgradeVerdict(nlohmann::json& verdict);

}  // namespace warpwright::memory
