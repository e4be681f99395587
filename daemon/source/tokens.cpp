#include "source/tokens.h"

#include <algorithm>
#include <cctype>

namespace warpwright::source {
namespace {

bool IsWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

// The length of a backslash at `at` with the line break that it removes; 0: there is none.
size_t SpliceAt(std::string_view text, size_t at) {
  if (text[at] != '\\') return 0;
  size_t end = at + 1;
  while (end < text.size() && IsBlank(text[end])) ++end;
  return end < text.size() && text[end] == '\n' ? end + 1 - at : 0;
}

// A text with its continued lines joined, and the offset of each of its bytes in the original.
class JoinedText {
 public:
  explicit JoinedText(std::string_view original) : text_(original) {
    for (size_t at = 0; at < original.size();) {
      const size_t splice = SpliceAt(original, at);
      if (splice > 0 && !is_copy_) {
        is_copy_ = true;
        copy_ = original.substr(0, at);
        for (size_t i = 0; i < at; ++i) offsets_.push_back(static_cast<uint32_t>(i));
      }
      if (splice == 0 && is_copy_) {
        copy_ += original[at];
        offsets_.push_back(static_cast<uint32_t>(at));
      }
      at += splice > 0 ? splice : 1;
    }
    if (is_copy_) text_ = copy_;
  }
  JoinedText(const JoinedText&) = delete;
  JoinedText& operator=(const JoinedText&) = delete;

  std::string_view text() const { return text_; }
  uint32_t OffsetOf(size_t at) const { return is_copy_ ? offsets_[at] : static_cast<uint32_t>(at); }
  // Maps the non-empty range [begin, end) of the joined text to bytes of the original.
  TextRange RangeOf(size_t begin, size_t end) const { return {OffsetOf(begin), OffsetOf(end - 1) + 1}; }
  // The first byte at or after `offset` of the original.
  size_t At(size_t offset) const {
    if (!is_copy_) return offset;
    return static_cast<size_t>(std::lower_bound(offsets_.begin(), offsets_.end(), offset) - offsets_.begin());
  }

 private:
  std::string copy_;
  std::vector<uint32_t> offsets_;
  bool is_copy_ = false;
  std::string_view text_;
};

class Lexer {
 public:
  explicit Lexer(std::string_view original) : original_(original), joined_(original), text_(joined_.text()) {}

  std::vector<Token> Run() {
    while (Skip()) {
      Token token;
      token.starts_line = at_line_start_;
      meant_ = {};
      const size_t begin = at_;
      token.kind = Scan();
      token.range = joined_.RangeOf(begin, at_);
      token.text = meant_.empty() ? original_.substr(token.range.begin, token.range.size()) : meant_;
      token.spliced = token.range.size() != at_ - begin && !raw_;
      raw_ = false;
      token.line = LineOf(token.range.begin);
      if (at_line_start_ && token.text == "#") in_directive_ = true;
      at_line_start_ = false;
      token.in_directive = in_directive_;
      tokens_.push_back(token);
    }
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // Must be called in ascending order of offsets.
  int LineOf(uint32_t offset) {
    line_ += static_cast<int>(std::count(original_.begin() + counted_, original_.begin() + offset, '\n'));
    counted_ = offset;
    return line_;
  }

  // Skips white space and comments; false at the end.
  bool Skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        at_line_start_ = true;
        in_directive_ = false;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '/' && Peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && Peek(1) == '*') {
        const size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  Token::Kind Scan() {
    const char c = Peek();
    if (IsWordStart(c)) {
      const size_t begin = at_;
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
    if (ScanDigraph()) return Token::Kind::kPunctuation;
    // The longest first. ">>" remains two tokens: it may close template arguments or be a shift.
    for (const std::string_view longer : {"<<<", ">>>", "<<=", "...", "::", "->", "##", "++", "--", "+=", "-=", "*=",
                                          "/=",  "%=",  "&=",  "|=",  "^=", "==", "!=", "<=", ">=", "&&", "||", "<<"}) {
      if (text_.substr(at_, longer.size()) == longer) {
        at_ += longer.size();
        return Token::Kind::kPunctuation;
      }
    }
    ++at_;
    return Token::Kind::kPunctuation;
  }

  // "%:" is "#" to a compiler. In "<::" the first character is a separate token, as in std::vector<::Type>.
  bool ScanDigraph() {
    static constexpr std::pair<std::string_view, std::string_view> kDigraphs[] = {
        {"%:%:", "##"}, {"%:", "#"}, {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}};
    if (text_.substr(at_, 3) == "<::" && Peek(3) != ':' && Peek(3) != '>') return false;
    for (const auto& [spelled, meant] : kDigraphs) {
      if (text_.substr(at_, spelled.size()) != spelled) continue;
      at_ += spelled.size();
      meant_ = meant;
      return true;
    }
    return false;
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
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    return quote == '"' ? Token::Kind::kString : Token::Kind::kCharacter;
  }

  // Its lines are not joined, so that it ends where it ends in the original.
  Token::Kind ScanRawString() {
    const size_t quote = joined_.OffsetOf(at_), paren = original_.find('(', quote);
    if (paren == std::string_view::npos || paren - quote > 17) return ScanQuoted();
    const std::string close = ")" + std::string(original_.substr(quote + 1, paren - quote - 1)) + "\"";
    const size_t end = original_.find(close, paren);
    at_ = end == std::string_view::npos ? text_.size() : joined_.At(end + close.size());
    raw_ = true;
    return Token::Kind::kString;
  }

  std::string_view original_;
  JoinedText joined_;
  std::string_view text_;   // joined
  size_t at_ = 0;           // in it
  std::string_view meant_;  // the meaning of the digraph that was scanned
  bool raw_ = false;        // a raw string was scanned
  int line_ = 1;
  uint32_t counted_ = 0;  // line breaks before this byte of the original are in line_
  bool at_line_start_ = true;
  bool in_directive_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Lex(std::string_view text) { return Lexer(text).Run(); }

std::string Spelling(const Token& token) {
  std::string spelled;
  for (size_t at = 0; at < token.text.size();) {
    const size_t splice = token.spliced ? SpliceAt(token.text, at) : 0;
    if (splice == 0) spelled += token.text[at];
    at += splice > 0 ? splice : 1;
  }
  return spelled;
}

std::string NormalizedText(std::string_view text) {
  std::string out;
  bool directive = false;
  const std::vector<Token> tokens = Lex(text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    const bool breaks =
        token.in_directive != directive || (token.in_directive && token.text == "#" && token.starts_line);
    if (!out.empty()) out += breaks ? '\n' : ' ';
    // The one blank that is significant: "#define F (x)" has no parameter.
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

}  // namespace warpwright::source
