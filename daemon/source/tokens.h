// A raw C++ lexer, the only one: tokens by byte offset, before any macro is expanded. The slicer, the splicer, the
// slice hash and the include scanner work on these, because code hidden in a macro has no extent in the AST.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::source {

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
  bool spliced = false;       // contains a line continuation: the text includes the backslash, Spelling does not
  std::string_view text;      // view into the lexed text; for a digraph, its meaning

  bool Is(std::string_view spelling) const { return text == spelling; }
  bool IsIdentifier() const { return kind == Kind::kIdentifier; }
  bool OpensDirective() const { return in_directive && starts_line && text == "#"; }
};

// Comments and white space are omitted. Operators are single tokens ("<<<", ">>>", "==", "->", "##"), but ">>" is two
// tokens. An unterminated literal ends with its line, an unterminated comment or raw string with the text. Lines
// continued by a backslash are one line, as for a compiler, also if blanks follow the backslash, and also within
// comments and names.
std::vector<Token> Lex(std::string_view text);

// The token's text without the backslashes and line breaks in it.
std::string Spelling(const Token& token);

// The tokens joined by single spaces: equal for texts that differ only in comments and white space. Line breaks around
// directives are kept, since they are significant.
std::string NormalizedText(std::string_view text);

// Index of the token that closes the bracket at tokens[open] ('(', '[' or '{'); tokens.size() if none does.
size_t MatchingBracket(const std::vector<Token>& tokens, size_t open);

int LineAt(std::string_view text, uint32_t offset);

}  // namespace warpwright::source
