// JSON from outside: parsed by base/json.h within its bounds, after bytes that are not UTF-8 were replaced. Access is
// total, a value that is missing or of another type being empty, and not strict as base/json_codec.h is: GitHub and
// Enterprise servers of all versions add, omit and null fields, and one odd field must not lose the others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::forge {

// kCorrupt.
Result<nlohmann::json> ParseForeignJson(std::string_view text, size_t max_bytes);

using JsonPath = std::initializer_list<const char*>;
// nullptr: it is missing, or null.
const nlohmann::json* FindJson(const nlohmann::json& json, JsonPath path);
std::string TextAt(const nlohmann::json& json, JsonPath path);
int64_t IntegerAt(const nlohmann::json& json, JsonPath path);
bool BoolAt(const nlohmann::json& json, JsonPath path);
// The array there, or an empty one.
const nlohmann::json& ItemsAt(const nlohmann::json& json, JsonPath path);

}  // namespace warpwright::forge
