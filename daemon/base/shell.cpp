#include "base/shell.h"

#include <algorithm>

namespace warpwright::base {

std::string ShellQuote(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string ShellWord(std::string_view word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:+,=@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  return ShellQuote(word);
}

}  // namespace warpwright::base
