// JSON whose objects keep the order of their keys: for schemas, in whose order a language model writes its answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/json.h"

namespace warpwright::base {

// As ParseJson. Looking up a key takes as long as the object is: for small documents.
Result<nlohmann::ordered_json> ParseOrderedJson(std::string_view text, const JsonLimits& limits);
// As DumpJson, in one line.
std::string DumpOrderedJson(const nlohmann::ordered_json& json);

}  // namespace warpwright::base
