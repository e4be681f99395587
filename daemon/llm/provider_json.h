// Reading what providers send, leniently: a member that is missing or has another type is absent.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace warpwright::llm {

inline constexpr base::JsonLimits kEventLimits{.bytes = 20u << 20, .depth = 64, .values = 200'000, .text = 20u << 20};

inline const nlohmann::json* Find(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}
inline std::string FindText(const nlohmann::json& object, const char* key) {
  const auto* at = Find(object, key);
  return at != nullptr && at->is_string() ? at->get<std::string>() : std::string();
}
// Not negative, and below 2^53.
inline std::optional<int64_t> FindCount(const nlohmann::json& object, const char* key) {
  const auto* at = Find(object, key);
  if (at == nullptr || !at->is_number_unsigned() || at->get<uint64_t>() > (uint64_t{1} << 53)) return std::nullopt;
  return at->get<int64_t>();
}

}  // namespace warpwright::llm
