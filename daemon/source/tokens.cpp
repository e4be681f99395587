#include "source/tokens.h"

#include <algorithm>
#include <cctype>

namespace warpwright {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (Skip()) {
      Token token;
      token.line = line_;
      token.starts_line = at_line_start_;
      const bool opens_directive = at_line_start_ && text_[at_] == '#';
      if (opens_directive) in_directive_ = true;
      at_line_start_ = false;
      const uint32_t begin = at_;
      token.kind = Scan();
      token.range = {begin, at_};
      token.text = text_.substr(begin, at_ - begin);
      token.in_directive = in_directive_;
      line_ += static_cast<int>(std::count(token.text.begin(), token.text.end(), '\n'));
      tokens_.push_back(token);
    }
    return std::move(tokens_);
  }

 private:
  char Peek(uint32_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // White space and comments; false at the end.
  bool Skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_, ++line_;
        at_line_start_ = true;
        in_directive_ = false;
      } else if (c == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'))) {
        at_ += Peek(1) == '\n' ? 2 : 3;
        ++line_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '/' && Peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') {
          if (text_[at_] == '\\' && Peek(1) == '\n') ++at_, ++line_;
          ++at_;
        }
      } else if (c == '/' && Peek(1) == '*') {
        const size_t close = text_.find("*/", at_ + 2);
        const size_t end = close == std::string_view::npos ? text_.size() : close + 2;
        line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + static_cast<long>(end), '\n'));
        at_ = static_cast<uint32_t>(end);
      } else {
        return true;
      }
    }
    return false;
  }

  Token::Kind Scan() {
    const char c = Peek();
    if (IsWordStart(c)) {
      const uint32_t begin = at_;
      while (IsWord(Peek())) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      const bool prefix = word == "u8" || word == "u" || word == "U" || word == "L";
      if (Peek() == '"' && (word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR")) {
        return ScanRawString();
      }
      if (prefix && (Peek() == '"' || Peek() == '\'')) return ScanQuoted();
      return Token::Kind::kIdentifier;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(Peek(1))))) {
      return ScanNumber();
    }
    if (c == '"' || c == '\'') return ScanQuoted();
    // The longest first. ">>" stays two tokens: it closes template arguments as often as it shifts.
    for (const std::string_view longer : {"<<<", ">>>", "<<=", "...", "::", "->", "##", "++", "--", "+=", "-=", "*=",
                                          "/=",  "%=",  "&=",  "|=",  "^=", "==", "!=", "<=", ">=", "&&", "||", "<<"}) {
      if (text_.substr(at_, longer.size()) == longer) {
        at_ += static_cast<uint32_t>(longer.size());
        return Token::Kind::kPunctuation;
      }
    }
    ++at_;
    return Token::Kind::kPunctuation;
  }

  Token::Kind ScanNumber() {
    while (at_ < text_.size()) {
      const char c = Peek();
      const char before = at_ > 0 ? text_[at_ - 1] : '\0';
      const bool exponent_sign =
          (c == '+' || c == '-') && std::string_view("eEpP").find(before) != std::string_view::npos;
      const bool separator = c == '\'' && IsWord(Peek(1));
      if (!IsWord(c) && c != '.' && !exponent_sign && !separator) break;
      ++at_;
    }
    return Token::Kind::kNumber;
  }

  Token::Kind ScanQuoted() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    return quote == '"' ? Token::Kind::kString : Token::Kind::kCharacter;
  }

  Token::Kind ScanRawString() {
    const size_t paren = text_.find('(', at_);
    if (paren == std::string_view::npos || paren - at_ > 17) return ScanQuoted();
    const std::string close = ")" + std::string(text_.substr(at_ + 1, paren - at_ - 1)) + "\"";
    const size_t end = text_.find(close, paren);
    at_ = static_cast<uint32_t>(end == std::string_view::npos ? text_.size() : end + close.size());
    return Token::Kind::kString;
  }

  std::string_view text_;
  uint32_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
  bool in_directive_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Lex(std::string_view text) { return Lexer(text).Run(); }

std::string NormalizedText(std::string_view text) {
  std::string out;
  bool directive = false;
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool breaks =
        token.in_directive != directive || (token.in_directive && token.text == "#" && token.starts_line);
    if (!out.empty()) out += breaks ? '\n' : ' ';
    // The one blank that means something: "#define F (x)" has no parameter.
    const bool body = i >= 3 && token.in_directive && token.text == "(" && tokens[i - 2].text == "define" &&
                      tokens[i - 3].text == "#" && tokens[i - 1].range.end < token.range.begin;
    if (body) out += ' ';
    directive = token.in_directive;
    out += token.text;
  }
  return out;
}

size_t MatchingBracket(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::kPunctuation) continue;
    const char c = tokens[i].text.size() == 1 ? tokens[i].text[0] : '\0';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return tokens.size();
}

int LineAt(std::string_view text, uint32_t offset) {
  const auto end = text.begin() + static_cast<long>(std::min<size_t>(offset, text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), end, '\n'));
}

}  // namespace warpwright
