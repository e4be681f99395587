// A raw C++ lexer, the only one: tokens by byte offset, before any macro is expanded. The slicer, the splicer, the
// slice hash and what looks for includes work on these, because what a macro hides has no extent in the AST.
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
  bool spliced = false;       // continued lines meet in it: the text has their backslashes, Spelling has not
  std::string_view text;      // view into the lexed text; of a digraph, what it stands for

  bool Is(std::string_view spelling) const { return text == spelling; }
  bool IsIdentifier() const { return kind == Kind::kIdentifier; }
  bool OpensDirective() const { return in_directive && starts_line && text == "#"; }
};

// Comments and white space are left out. Operators are whole ("<<<", ">>>", "==", "->", "##"), but ">>" is two tokens.
// An unterminated literal ends with its line, an unterminated comment or raw string with the text. Lines that a
// backslash continues are one line, as to a compiler, also where blanks stand behind the backslash, and also within
// comments and names.
std::vector<Token> Lex(std::string_view text);

// The token's text without the backslashes and line breaks in it.
std::string Spelling(const Token& token);

// The tokens joined by single spaces: equal for texts that differ in comments and white space only. Line breaks around
// directives are kept, for they carry meaning.
std::string NormalizedText(std::string_view text);

// Index of the token that closes the bracket at tokens[open] ('(', '[' or '{'); tokens.size() where nothing does.
size_t MatchingBracket(const std::vector<Token>& tokens, size_t open);

int LineAt(std::string_view text, uint32_t offset);

}  // namespace warpwright::source
