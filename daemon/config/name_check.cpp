#include "config/name_check.h"

#include <algorithm>

namespace warpwright::config {

namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::all_of(text.begin(), text.end(), IsWordCharacter);
}
bool IsPlainName(std::string_view text, std::string_view more, size_t limit) {
  return !text.empty() && text.size() <= limit && IsWordCharacter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsWordCharacter(c) || more.find(c) != more.npos; }) &&
         text.find("..") == text.npos && text.back() != '.' && !text.ends_with(".lock");
}
bool IsEntryName(std::string_view text) {
  if (text.empty() || text.size() > 500 || !(IsWordCharacter(text[0]) || text[0] == ':') ||
      (text[0] >= '0' && text[0] <= '9'))
    return false;
  int depth = 0;
  for (char c : text) {
    depth += (c == '<') - (c == '>');
    if (depth < 0 || !(IsWordCharacter(c) || std::string_view("<>:, -*").find(c) != std::string_view::npos))
      return false;
  }
  return depth == 0;
}

}  // namespace warpwright::config
