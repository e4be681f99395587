#include "forge/json_text.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"

namespace warpwright::forge {
using nlohmann::json;

Result<json> ParseForeignJson(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) return Fail(ErrorCode::kCorrupt, fmt::format("JSON of more than {} bytes", max_bytes));
  return base::ParseJson(base::ValidUtf8(text), {.values = 1'000'000});
}

const json* FindJson(const json& value, JsonPath path) {
  const json* at = &value;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at->is_null() ? nullptr : at;
}

std::string TextAt(const json& value, JsonPath path) {
  const json* found = FindJson(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t IntegerAt(const json& value, JsonPath path) {
  const json* found = FindJson(value, path);
  if (found == nullptr || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned() &&
      found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return 0;
  return found->get<int64_t>();
}

bool BoolAt(const json& value, JsonPath path) {
  const json* found = FindJson(value, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const json& ItemsAt(const json& value, JsonPath path) {
  static const json empty = json::array();
  const json* found = FindJson(value, path);
  return found != nullptr && found->is_array() ? *found : empty;
}

}  // namespace warpwright::forge
