// Splits PTX into tokens. An opcode is one word including its dots ("ld.global.nc.f32"), and so is a directive
// (".reg").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpwright::sim {

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kInteger, kFloat32, kFloat64, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string_view text;
  uint64_t bits = 0;  // of a number; a decimal one as IEEE double
  int line = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  // After the first malformed token, always kEnd, and error() describes the problem.
  Token Next();
  const std::string& error() const { return error_; }
  int line() const { return line_; }

 private:
  Token Number();
  Token Make(Token::Kind kind, size_t begin);
  bool SkipSpace();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::string error_;
};

}  // namespace warpwright::sim
