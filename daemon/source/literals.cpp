#include "source/literals.h"

#include <charconv>
#include <optional>

#include "source/tokens.h"

namespace warpwright::source {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;

std::optional<int64_t> IntegerOf(const Token& token) {
  if (token.kind != Token::Kind::kNumber) return std::nullopt;
  std::string digits;
  for (const char c : Spelling(token))
    if (c != '\'') digits += c;
  int base = 10;
  size_t begin = 0;
  if (digits.starts_with("0x") || digits.starts_with("0X")) base = 16, begin = 2;
  else if (digits.starts_with("0b") || digits.starts_with("0B")) base = 2, begin = 2;
  else if (digits.size() > 1 && digits[0] == '0') base = 8, begin = 1;
  const size_t suffix = digits.find_first_of(base == 16 ? "uUlL" : "uUlLzZ", begin);
  const char* end = digits.data() + std::min(suffix, digits.size());
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data() + begin, end, value, base);
  if (error != std::errc() || stop != end || value > kLargest) return std::nullopt;
  return value;
}

}  // namespace

std::set<int64_t> IntegerLiterals(std::string_view text) {
  std::set<int64_t> literals;
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto value = IntegerOf(tokens[i]);
    if (!value) continue;
    literals.insert(*value);
    if (i + 2 >= tokens.size() || !tokens[i + 1].Is("<<")) continue;
    const auto shift = IntegerOf(tokens[i + 2]);
    if (shift && *value > 0 && *shift < 40 && *value <= kLargest >> *shift) literals.insert(*value << *shift);
  }
  return literals;
}

}  // namespace warpwright::source
