#include "forge/json_text.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace warpwright {
namespace {

using nlohmann::json;

// Bytes of the well-formed UTF-8 sequence at the start of `bytes` (Unicode, table 3-7); 0: there is none.
size_t SequenceLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const auto in = [&](size_t i, unsigned low, unsigned high) { return at(i) >= low && at(i) <= high; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return in(1, low, high) && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string ValidUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) text += "\xef\xbf\xbd";
    else text += bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

size_t CountCodePoints(std::string_view utf8) {
  size_t count = 0;
  for (char c : utf8) count += !IsContinuation(c);
  return count;
}

std::string Clip(std::string_view utf8, size_t limit) {
  if (utf8.size() <= limit || CountCodePoints(utf8) <= limit) return std::string(utf8);
  size_t end = 0;
  for (size_t points = 0; end < utf8.size(); ++end)
    if (!IsContinuation(utf8[end]) && ++points == limit) break;
  return std::string(utf8.substr(0, end)) + "\xe2\x80\xa6";
}

Result<json> ParseForeignJson(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) return Fail(ErrorCode::kCorrupt, fmt::format("JSON of more than {} bytes", max_bytes));
  return ParseJson(ValidUtf8(text), {.values = 1'000'000});
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
  if (found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return 0;
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

}  // namespace warpwright
