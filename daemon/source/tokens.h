// A raw C++ lexer: tokens by byte offset, before any macro is expanded. The slicer, the splicer and the slice hash work
// on these, because what a macro hides has no extent in the AST.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright {

// Bytes [begin, end) of a file.
struct TextRange {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
  bool Contains(const TextRange& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const TextRange&) const = default;
};

struct Token {
  enum class Kind { kIdentifier, kNumber, kString, kCharacter, kPunctuation };
  Kind kind = Kind::kPunctuation;
  TextRange range;
  int line = 0;               // 1-based
  bool in_directive = false;  // of a preprocessor line, its continuation lines included
  bool starts_line = false;   // first token of its line
  std::string_view text;      // view into the lexed text

  bool Is(std::string_view spelling) const { return text == spelling; }
  bool IsIdentifier() const { return kind == Kind::kIdentifier; }
  bool OpensDirective() const { return in_directive && starts_line && text == "#"; }
};

// Comments and white space are left out. Operators are whole ("<<<", ">>>", "==", "->", "##"), but ">>" is two tokens.
// An unterminated literal or comment ends at the end of the text.
std::vector<Token> Lex(std::string_view text);

// The tokens joined by single spaces: equal for texts that differ in comments and white space only. Line breaks around
// directives are kept, for they carry meaning.
std::string NormalizedText(std::string_view text);

// Index of the token that closes the bracket at tokens[open] ('(', '[' or '{'); tokens.size() where nothing does.
size_t MatchingBracket(const std::vector<Token>& tokens, size_t open);

int LineAt(std::string_view text, uint32_t offset);

}  // namespace warpwright
