#include "config/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace warpwright::config {
namespace {

bool IsPlainCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string QuotedYaml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (c == '\n') out += "\\n";
    else if (const auto code = static_cast<uint8_t>(c); code < 0x20 || code == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
    else out += c;
  }
  return out + "\"";
}

std::string YamlScalar(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return IsPlainCharacter(c) || c == '/' || c == '.' || c == '-';
  }) && IsPlainCharacter(text.front());
  return plain && text != "null" && text != "Null" && text != "NULL" ? std::string(text) : QuotedYaml(text);
}

}  // namespace warpwright::config
