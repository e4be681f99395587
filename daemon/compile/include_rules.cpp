#include "compile/include_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright {
namespace {

bool IsNameCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

// Backslash-newline joins lines before anything else is looked at; `lines` keeps where each character stood.
struct Joined {
  std::string text;
  std::vector<int> lines;
};
Joined JoinLines(std::string_view text) {
  Joined joined;
  joined.text.reserve(text.size());
  joined.lines.reserve(text.size());
  int line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      size_t end = i + 1;
      while (end < text.size() && IsBlank(text[end])) ++end;  // compilers forgive blanks there
      if (end < text.size() && text[end] == '\n') {
        ++line;
        i = end;
        continue;
      }
    }
    joined.text += text[i];
    joined.lines.push_back(line);
    if (text[i] == '\n') ++line;
  }
  return joined;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : joined_(JoinLines(text)), text_(joined_.text) {}

  std::vector<IncludeLine> Run() {
    while (at_ < text_.size()) {
      if (SkipCommentOrBlank()) continue;
      const char c = text_[at_];
      if (c == '\n') {
        line_start_ = true;
        ++at_;
      } else if (line_start_ && (c == '#' || Starts("%:"))) {
        at_ += c == '#' ? 1 : 2;
        line_start_ = false;
        ReadDirective();
      } else {
        line_start_ = false;
        SkipToken();
      }
    }
    return std::move(found_);
  }

 private:
  bool Starts(std::string_view what) const { return text_.substr(at_).substr(0, what.size()) == what; }

  bool SkipCommentOrBlank() {
    if (IsBlank(text_[at_])) {
      ++at_;
    } else if (Starts("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (Starts("/*")) {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;  // a directive may follow a comment that begins its line
    } else {
      return false;
    }
    return true;
  }

  std::string_view Name() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void ReadDirective() {
    while (at_ < text_.size() && SkipCommentOrBlank()) {
    }
    const size_t begin = at_;
    const std::string_view directive = Name();
    if (directive != "include" && directive != "include_next" && directive != "import") return;
    while (at_ < text_.size() && SkipCommentOrBlank()) {
    }
    IncludeLine include{{}, joined_.lines[begin]};
    const char open = at_ < text_.size() ? text_[at_] : '\n';
    if (open == '"' || open == '<') {
      const size_t end = text_.find_first_of(open == '"' ? "\"\n" : ">\n", at_ + 1);
      include.name = std::string(text_.substr(at_ + 1, std::min(end, text_.size()) - at_ - 1));
      at_ = std::min(end, text_.size());
      if (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    found_.push_back(std::move(include));
  }

  void SkipToken() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return SkipLiteral(c);
    if ((c >= '0' && c <= '9') || (c == '.' && at_ + 1 < text_.size() && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9')) {
      // A number, with the quotes that may group its digits.
      while (at_ < text_.size() && (IsNameCharacter(text_[at_]) || text_[at_] == '.' ||
                                    (text_[at_] == '\'' && at_ + 1 < text_.size() && IsNameCharacter(text_[at_ + 1]))))
        ++at_;
      return;
    }
    if (!IsNameCharacter(c)) {
      ++at_;
      return;
    }
    const std::string_view name = Name();
    if (at_ < text_.size() && text_[at_] == '"' && (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) SkipRaw();
  }

  void SkipLiteral(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      }
    }
  }

  void SkipRaw() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ - 1 > 16) return SkipLiteral('"');  // no raw string: the delimiter is too long
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
  }

  Joined joined_;
  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  std::vector<IncludeLine> found_;
};

std::optional<std::string> Check(const std::string& file, std::string_view text, const std::map<std::string, std::string>& headers) {
  for (const auto& include : FindIncludes(text)) {
    if (headers.count(include.name) != 0) continue;  // NVRTC looks there first
    if (include.name.empty()) return fmt::format("{}({}): error: #include of a macro is not supported", file, include.line);
    if (include.name.front() == '/' || include.name.find("..") != std::string::npos || include.name.find('\\') != std::string::npos)
      return fmt::format("{}({}): error: #include of '{}' is outside the toolkit and the repository", file, include.line, include.name);
  }
  return std::nullopt;
}

}  // namespace

std::vector<IncludeLine> FindIncludes(std::string_view text) { return Scanner(text).Run(); }

std::optional<std::string> ForbiddenInclude(const std::string& file, std::string_view text, const std::map<std::string, std::string>& headers) {
  if (auto message = Check(file, text, headers)) return message;
  for (const auto& [name, header] : headers)
    if (auto message = Check(name, header, headers)) return message;
  return std::nullopt;
}

}  // namespace warpwright
