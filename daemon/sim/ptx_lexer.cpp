#include "sim/ptx_lexer.h"

#include <bit>
#include <charconv>

namespace warpwright::sim {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

}  // namespace

bool Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      at_ += 2;
      while (at_ < text_.size() && text_.substr(at_, 2) != "*/") {
        if (text_[at_] == '\n') ++line_;
        ++at_;
      }
      if (at_ >= text_.size()) {
        error_ = "a comment without an end";
        return false;
      }
      at_ += 2;
    } else {
      return true;
    }
  }
  return false;
}

Token Lexer::Make(Token::Kind kind, size_t begin) { return Token{kind, text_.substr(begin, at_ - begin), 0, line_}; }

Token Lexer::Number() {
  const size_t begin = at_;
  const char second = begin + 1 < text_.size() ? text_[begin + 1] : ' ';
  if (text_[begin] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    const bool wide = second == 'd' || second == 'D';
    const size_t digits = wide ? 16 : 8;
    at_ += 2;
    uint64_t bits = 0;
    size_t count = 0;
    for (; at_ < text_.size() && IsHex(text_[at_]) && count < digits; ++at_, ++count) {
      const char c = text_[at_];
      bits = bits * 16 + static_cast<uint64_t>(IsDigit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    if (count != digits) {
      error_ = "a floating-point literal needs " + std::to_string(digits) + " digits";
      return Token{Token::Kind::kEnd, {}, 0, line_};
    }
    Token token = Make(wide ? Token::Kind::kFloat64 : Token::Kind::kFloat32, begin);
    token.bits = bits;
    return token;
  }
  int base = 10;
  size_t digits_begin = begin;
  if (text_[begin] == '0' && (second == 'x' || second == 'X')) base = 16, digits_begin = begin + 2;
  else if (text_[begin] == '0' && (second == 'b' || second == 'B')) base = 2, digits_begin = begin + 2;
  else if (text_[begin] == '0' && IsDigit(second)) base = 8, digits_begin = begin + 1;
  uint64_t value = 0;
  const char* first = text_.data() + digits_begin;
  const char* last = text_.data() + text_.size();
  auto parsed = std::from_chars(first, last, value, base);
  if (parsed.ec != std::errc() && parsed.ptr == first) {
    error_ = "a malformed number";
    return Token{Token::Kind::kEnd, {}, 0, line_};
  }
  at_ = static_cast<size_t>(parsed.ptr - text_.data());
  if (base == 10 && at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E') &&
      at_ + 1 < text_.size() && (IsDigit(text_[at_ + 1]) || text_[at_ + 1] == '-' || text_[at_ + 1] == '+')) {
    double real = 0;
    auto decimal = std::from_chars(text_.data() + begin, last, real);
    at_ = static_cast<size_t>(decimal.ptr - text_.data());
    Token token = Make(Token::Kind::kFloat64, begin);
    token.bits = std::bit_cast<uint64_t>(real);
    return token;
  }
  if (at_ < text_.size() && (text_[at_] == 'U' || text_[at_] == 'u')) ++at_;
  Token token = Make(Token::Kind::kInteger, begin);
  token.bits = value;
  return token;
}

Token Lexer::Next() {
  if (!error_.empty() || !SkipSpace()) return Token{Token::Kind::kEnd, {}, 0, line_};
  const size_t begin = at_;
  const char c = text_[at_];
  if (IsDigit(c)) return Number();
  if (IsWordStart(c) || (c == '.' && at_ + 1 < text_.size() && IsWordStart(text_[at_ + 1]))) {
    ++at_;
    while (at_ < text_.size()) {
      const char d = text_[at_];
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
      if (c == '.' && d == '.') break;  // ".reg.b32" is two directives
      if (IsWord(d) || (d == '.' && IsWord(next)) ||
          (d == ':' && next == ':' && at_ + 2 < text_.size() && IsWord(text_[at_ + 2]))) {
        at_ += d == ':' ? 2 : 1;
      } else {
        break;
      }
    }
    return Make(Token::Kind::kWord, begin);
  }
  if (c == '"') {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] != '"') {
      at_ = text_.size();
      error_ = "a string without an end";
      return Token{Token::Kind::kEnd, {}, 0, line_};
    }
    ++at_;
    Token token = Make(Token::Kind::kString, begin);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }
  if (std::string_view("[](){}<>,;:=+-*/|&!@~?^%").find(c) != std::string_view::npos) {
    ++at_;
    return Make(Token::Kind::kPunctuation, begin);
  }
  error_ = "a character that PTX does not have";
  return Token{Token::Kind::kEnd, {}, 0, line_};
}

}  // namespace warpwright::sim
